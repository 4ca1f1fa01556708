"""The ``cosep`` command."""

import io
import sys

from cosep.cli.process import Terminated, catch_signals, drop_output, open_streams


def main() -> None:
    """Run the ``cosep`` command, or name the package that it needs."""
    open_streams()
    catch_signals()
    try:
        from cosep.cli.app import app  # noqa: PLC0415 - typer and rich are an extra

        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")
        app()
    except SystemExit as end:
        if end.code == 1 and isinstance(end.__context__, BrokenPipeError):  # the reader of the help text has left
            drop_output()
            end.code = 0
        raise
    except KeyboardInterrupt:
        sys.exit(130)
    except Terminated as end:
        sys.exit(end.exit_code)
    except ModuleNotFoundError as error:
        missing = str(error.name).split(".")[0]
        if missing not in {"rich", "typer"}:
            raise
        sys.exit(f"The cosep command needs {missing}, which is not installed; install cosep[cli].")
    except (OSError, ValueError) as error:  # while help is printed: commands handle their own errors
        drop_output()
        sys.stderr.write(f"{error}\n")
        sys.exit(2)
