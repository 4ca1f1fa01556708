"""Words of the command line as values, and the command line as text."""

import os
import re
import shlex
import sys
from pathlib import Path

from cosep.utils.messages import SURROGATES

COMPRESSED = (".gz", ".bz2", ".xz", ".zst")


def scaling_named(name: str) -> str | None:
    """Return the scaling of the library: "none" is None; raise ValueError for an unknown name."""
    from cosep.matrix.checks import check_choice  # noqa: PLC0415 - help is quick without the numerics
    from cosep.matrix.scaling import SCALINGS  # noqa: PLC0415 - as above

    return None if check_choice(name, "scaling", (*SCALINGS, "none")) == "none" else name


def check_missing_option(name: str | None) -> None:
    """Raise ValueError for a name that does not say which entries are missing."""
    from cosep.matrix.missing import check_missing  # noqa: PLC0415 - as above

    check_missing(name)


def ranks_in(text: str | None) -> list[tuple[int, int]] | None:
    """Return the ranks in a text such as "5,10x20"."""
    if text is None:
        return None
    pairs = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+)(?:x(\d+))?\s*", part)
        if match is None:
            msg = f"ranks={text!r} must be numbers or pairs, such as 5,10,20 or 5x5,10x20."
            raise ValueError(msg)
        pairs.append((int(match[1]), int(match[2] or match[1])))
    return pairs


def stem(source: Path) -> str:
    """Return the name of a file without its ending, and without that of its compression."""
    plain = Path(os.path.realpath(source))
    plain = plain.with_suffix("") if plain.suffix in COMPRESSED else plain
    return "answer" if source == Path("-") else plain.stem


def file_name(source: Path) -> str:
    """Return the name of a file or folder, to be shown."""
    name = "standard input" if source == Path("-") else Path(os.path.realpath(source)).name
    return SURROGATES.sub("\ufffd", name)


def command_line() -> str:
    """Return the command as it was typed, quoted for the shell."""
    return " ".join(["cosep", *map(quoted, sys.argv[1:])])


def quoted(word: str) -> str:
    """Return a word quoted for the shell; the bytes of a file name that is not Unicode one by one."""
    if not SURROGATES.search(word):
        return shlex.quote(word)
    plain = (f"\\x{byte:02x}" if byte in b"'\\" or not 32 <= byte < 127 else chr(byte) for byte in os.fsencode(word))
    return f"$'{''.join(plain)}'"
