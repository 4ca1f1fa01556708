"""Words of a command line enter, printed answers and an exit code leave."""

import io
import sys


def main() -> None:
    """Run the ``cosep`` command, or say what it lacks."""
    try:
        from cosep.cli.app import app  # noqa: PLC0415 - typer and rich are an extra

        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")
        app()
    except KeyboardInterrupt:
        sys.exit(130)
    except ModuleNotFoundError as error:
        missing = str(error.name).split(".")[0]
        if missing not in {"rich", "typer"}:
            raise
        sys.exit(f"The cosep command needs {missing}, which is not installed; install cosep[cli].")
