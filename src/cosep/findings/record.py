"""Findings: the record of what a person wants to know about a fit."""

from dataclasses import dataclass
from typing import NamedTuple

from cosep.records.fidelity import Fidelity
from cosep.records.shares import shares_table
from cosep.utils.display import Readable, View, grid_of
from cosep.utils.messages import counted, percent, plural
from cosep.utils.types import Array, Indices, Table

# Columns of a topic that its printed form names.
MOST_NAMED = 5


class Nouns(NamedTuple):
    """What one row and one column are called, such as "document" and "word".

    Attributes
    ----------
    row, col : str
        In the singular.
    """

    row: str = "row"
    col: str = "column"

    @property
    def rows(self) -> str:
        """The plural of ``row``."""
        return plural(self.row)

    @property
    def cols(self) -> str:
        """The plural of ``col``."""
        return plural(self.col)


class Classes(NamedTuple):
    """How the clusters of the rows agree with classes that are known.

    Attributes
    ----------
    representatives : tuple of str
        The class of the representative of each topic.
    largest : tuple of str
        The most frequent class among the rows that a topic speaks for; "" if there are none.
    purity : tuple of float
        The share of these rows that are of that class; nan if there are none.
    accuracy, accuracy_of_one_cluster : float
        `clustering_accuracy` of the clusters of all rows, and of a single cluster.
    ari, nmi : float
        Adjusted Rand index, and normalized mutual information, of the clusters of all rows.
    """

    representatives: tuple[str, ...]
    largest: tuple[str, ...]
    purity: tuple[float, ...]
    accuracy: float
    accuracy_of_one_cluster: float
    ari: float
    nmi: float


@dataclass(frozen=True, slots=True)
class Entry:
    """A row or a column, and a number that belongs to it.

    Attributes
    ----------
    index : int
        Its position in X.
    name : str
        Its name; "row 17" or "column 17" where there are no names.
    value : float
        What it means is said where the entry is used.
    """

    index: int
    name: str
    value: float


@dataclass(frozen=True, slots=True)
class Anchor:
    """A selected column of a topic.

    Attributes
    ----------
    index, name
        Its position in X, and its name.
    value : float
        The entry of X where it meets the representative.
    own : bool
        Whether no other topic is linked to it more strongly.
    """

    index: int
    name: str
    value: float
    own: bool


@dataclass(frozen=True, eq=False, repr=False)
class Topic(Readable):
    """A selected row, and what goes with it.

    Attributes
    ----------
    index, name
        Position and name of the selected row, the representative of the topic.
    anchors : tuple of Anchor
        Its selected columns, strongest first; empty if the row is zero in all selected columns.
    columns : tuple of Entry
        The columns that it contributes most to in the norm of the model, with their values in ``core @ col_factor``,
        anchors among them; at most 20.
    values : tuple of Entry
        The largest entries of the row itself; at most 8.
    closest : tuple of Entry
        The other rows that hold most of it, with the part of their length that it makes up; at most 8.
    size : int
        The number of rows that it speaks for: those of its cluster that are not unassigned.
    share : float
        That number divided by the number of all rows.
    cluster_size : int
        The number of rows in its cluster, with those of which too little is explained.
    explains : float
        Its part of what the model explains, ``fidelity.refitted``; the parts of all topics add up to it.
    home : int
        The position of the topic that the selected row itself is counted in: its own one, or another that has a larger
        share in it. -1 for an all-zero row.
    """

    index: int
    name: str
    anchors: tuple[Anchor, ...]
    columns: tuple[Entry, ...]
    values: tuple[Entry, ...]
    closest: tuple[Entry, ...]
    size: int
    share: float
    cluster_size: int
    explains: float
    home: int

    def _view(self) -> View:
        return View(
            f"Topic {self.name}",
            (
                f"rows: {self.size:,} ({self.share:.1%}), explains {percent(self.explains)}",
                *(
                    f"{what}: {', '.join(one.name for one in entries)}"
                    for what, entries in (("anchors", self.anchors), ("columns", self.columns), ("rows", self.closest))
                    if entries
                ),
            ),
        )


def unassigned_line(found: "Findings") -> str:
    """Return how many rows no topic speaks for."""
    number = counted(found.n_unassigned, found.nouns.row)
    return f"unassigned: {number}, of which less than {found.min_explained:.0%} each is explained"


@dataclass(frozen=True, eq=False, repr=False)
class Findings(Readable):
    """What a person wants to know about a fit; made by `describe`.

    Attributes
    ----------
    shape : tuple of int
        Numbers of rows and columns of X.
    n_nonzeros : int
        The number of nonzero entries of X.
    fidelity : Fidelity
        What the selected rows, the selected columns and the core explain on their own, and what the refitted factors
        explain, in the norm of the model.
    plain_fidelity : Fidelity
        The same in the plain norm.
    bound : Fidelity
        What no rows, columns and factors of the same number could exceed, in the norm of the model.
    scaling : str or None
        The name of the norm; None for the plain norm, "plain" for the plain norm with weights of rows.
    topics : tuple of Topic
        One for each selected row, in the order of the selection.
    selected_cols : tuple of Entry
        The selected columns in the order of the selection, with what each of them explains: ``explains`` of ``cols``.
    core : ndarray of shape (n_rows, n_cols)
        The entries of X where selected rows and columns meet.
    col_order : ndarray of int
        The selected columns, as positions in ``selected_cols``, by the topic that they are linked to most.
    rows : dict of ndarray
        One entry for each row of X; ``pandas.DataFrame(rows)`` shows it. Empty for X in blocks, where a table of all
        rows need not fit in memory.

        name
            The name of the row.
        cluster
            Its cluster, the topic with the largest share in it; -1 for an all-zero row.
        representative
            The name of the selected row of that topic; "" for an all-zero row.
        membership
            The share of that topic in all that the row holds of topics; nan for an all-zero row.
        selected
            Whether it is selected itself.
        explained
            The share of the row's squares that the model explains; nan for an all-zero row.
        assigned
            Whether that share is at least ``min_explained``.
        explains
            For a selected row, the part of ``fidelity.refitted`` that its topic explains; nan for other rows. These
            parts add up to the whole.
    cols : dict of ndarray
        The same for columns.
    n_unassigned : int
        The number of rows that no topic speaks for: less than ``min_explained`` of their squares is explained. With
        the sizes of the topics they add up to all rows.
    unassigned : tuple of Entry
        Those of them that weigh most in the norm of the model, with the share that is explained; at most 8.
    min_explained : float
        The share of a row that must be explained for a topic to speak for it.
    classes : Classes or None
        How the clusters agree with known classes.
    title : str
        What the data are called; "" if that is not known.
    nouns : Nouns
        What a row and a column are called.
    sentences : tuple of str
        What was found, in plain sentences.
    certificate : tuple of str
        What is proven about the selection, and what is known about the core.
    warnings : tuple of str
        What to mind before the result is used; empty if there is nothing.
    versions : dict of str
        Versions of cosep, Python and the packages that the result depends on.

    Examples
    --------
    >>> import numpy as np
    >>> from cosep import Selection, describe, mix
    >>> X = np.array([[4.0, 0.0, 2.0], [0.0, 3.0, 0.0], [8.0, 0.0, 4.0]])
    >>> found = describe(X, mix(X, Selection([2, 1], [0, 1])))
    >>> [(topic.name, topic.size, topic.anchors[0].name) for topic in found.topics]
    [('row 2', 2, 'column 0'), ('row 1', 1, 'column 1')]
    >>> found.rows["representative"].tolist()
    ['row 2', 'row 1', 'row 2']
    """

    shape: tuple[int, int]
    n_nonzeros: int
    fidelity: Fidelity
    plain_fidelity: Fidelity
    bound: Fidelity
    scaling: str | None
    topics: tuple[Topic, ...]
    selected_cols: tuple[Entry, ...]
    core: Array
    col_order: Indices
    rows: Table
    cols: Table
    n_unassigned: int
    unassigned: tuple[Entry, ...]
    min_explained: float
    classes: Classes | None
    title: str
    nouns: Nouns
    sentences: tuple[str, ...]
    certificate: tuple[str, ...]
    warnings: tuple[str, ...]
    versions: dict[str, str]

    def topics_from(self, first: int) -> tuple[int, float]:
        """Return how many rows the topics from a position on speak for together, and what they explain."""
        rest = self.topics[first:]
        return sum(topic.size for topic in rest), sum(topic.explains for topic in rest)

    def _view(self) -> View:
        (m, n), nouns = self.shape, self.nouns
        columns = {
            "topic": [*range(len(self.topics))],
            "representative": [topic.name for topic in self.topics],
            nouns.cols: [", ".join(one.name for one in topic.columns[:MOST_NAMED]) for topic in self.topics],
            nouns.rows: [topic.size for topic in self.topics],
            "explains": [percent(topic.explains) for topic in self.topics],
        }
        shares = grid_of("", shares_table(self.fidelity, self.bound))
        title = f"Findings of {counted(m, nouns.row)} and {counted(n, nouns.col)}"
        return View(title, (unassigned_line(self),), (grid_of("", columns), shares))

    @property
    def shares(self) -> dict[str, float]:
        """What the selected rows, the selected columns, the core, and the refitted factors explain."""
        return {name: share or 0.0 for name, share in self.fidelity._asdict().items()}
