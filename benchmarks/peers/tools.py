"""The tools that are compared, with the versions and the environments that they run in."""

from importlib.metadata import version
from typing import Any, NamedTuple

from benchmarks.environments import FASTCAN, NUMERICS, SCIKIT_MATTER, Environment
from benchmarks.peers.process import Call

KMEDOIDS = Environment("kmedoids", "0.5.5", NUMERICS)
SUBMODLIB = Environment("submodlib-py", "0.0.3", NUMERICS)
APRICOT = Environment("apricot-select", "0.6.1", (*NUMERICS, "numba==0.68.1"))
ARCHETYPES = Environment("archetypes", "0.12.2", (*NUMERICS, "pykronecker==0.1.3", "opt_einsum==3.4.0", "networkx"))
TOMOTOPY = Environment("tomotopy", "0.14.0", NUMERICS)
SEACELLS = Environment("SEACells", "0.3.3", (*NUMERICS, "scanpy==1.11.5", "pandas==2.3.3"))
SPAPROS = Environment("spapros", "0.1.6", (*NUMERICS, "scanpy==1.11.5", "pandas==2.3.3"))
PYSPTOOLS = Environment("pysptools", "0.15.0", (*NUMERICS, "matplotlib"))

OURS, DEFAULT = "cosep", "default"
# Seeds of tools that draw random numbers: in the full grid, for slow tools there, and in the short grid.
SEEDS, SLOW_SEEDS, FEW_SEEDS = 5, 2, 2


class Tool(NamedTuple):
    """A tool with one setting: "default", or what its documentation recommends for such data."""

    name: str
    setting: str
    call: Call
    # How many seeds the full grid tries: one if the tool draws no random numbers.
    n_seeds: int = 1
    # Whether the tool chooses columns as rows of the transpose.
    transposed: bool = False

    @property
    def version(self) -> str:
        """Return the package and its version."""
        package = {"ours": "cosep", "scikit_learn": "scikit-learn"}.get(self.call.module)
        environment = self.call.environment
        return environment.version if environment is not None else f"{package} {version(package or 'cosep')}"

    def seeds(self, *, full: bool) -> tuple[int, ...]:
        """Return the seeds to run with."""
        return tuple(range(self.n_seeds if full else min(self.n_seeds, FEW_SEEDS)))


def ours(setting: str = DEFAULT, function: str = "co_separable", **options: Any) -> Tool:
    """Return a setting of `cosep`."""
    return Tool(OURS, setting, Call("ours", function, None, options))


def scikit_learn(name: str, setting: str, function: str, *, n_seeds: int = 1, **options: Any) -> Tool:
    """Return a tool of scikit-learn."""
    return Tool(name, setting, Call("scikit_learn", function, None, options), n_seeds)


def medoids(setting: str, **options: Any) -> Tool:
    """Return k-medoids, which start at random."""
    return Tool("kmedoids", setting, Call("medoids", "faster_pam", KMEDOIDS, options), n_seeds=SEEDS)


def submodlib(setting: str, **options: Any) -> Tool:
    """Return facility location by submodlib."""
    return Tool("submodlib", setting, Call("submodular", "by_submodlib", SUBMODLIB, options))


def apricot(setting: str, **options: Any) -> Tool:
    """Return facility location by apricot."""
    return Tool("apricot", setting, Call("submodular", "by_apricot", APRICOT, options))


def archetypes(kind: str, setting: str, **options: Any) -> Tool:
    """Return archetypal analysis of one kind, which starts at random."""
    call = Call("archetypal", "archetypes", ARCHETYPES, {"kind": kind} | options)
    return Tool(f"archetypes {kind}", setting, call, SEEDS if setting == DEFAULT and kind == "AA" else SLOW_SEEDS)


def biarchetypes(setting: str, **options: Any) -> Tool:
    """Return archetypal analysis of both sides, with one seed, because it takes long."""
    return Tool("archetypes BiAA", setting, Call("archetypal", "biarchetypes", ARCHETYPES, options))


def scikit_matter(kind: str, setting: str, **options: Any) -> Tool:
    """Return CUR or FPS of scikit-matter."""
    return Tool(
        f"scikit-matter {kind}", setting, Call("deflation", "scikit_matter", SCIKIT_MATTER, {"kind": kind} | options)
    )


def fastcan(setting: str, **options: Any) -> Tool:
    """Return fastcan."""
    return Tool("fastcan", setting, Call("deflation", "fastcan", FASTCAN, options))


def on_columns(tool: Tool) -> Tool:
    """Return the tool that chooses columns, as rows of the transpose."""
    return tool._replace(transposed=True)
