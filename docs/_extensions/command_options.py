"""The options of the command, from its own help texts."""

from typing import Any

import typer
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from cosep.cli.app import app as command


class CommandOptions(Directive):
    """One section for each command: what it does, its arguments and its options."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        commands = typer.main.get_command(command).commands
        return [self.section(name, one) for name, one in commands.items() if not one.hidden]

    def section(self, name: str, one: Any) -> nodes.section:
        """Return the section of one command."""
        section = nodes.section(ids=[f"cosep-{name}"], names=[f"cosep-{name}"])
        section += nodes.title("", "", nodes.literal("", f"cosep {name}"))
        for paragraph in (one.help or "").split("\n\n"):
            section += text_of(paragraph)
        listed = nodes.definition_list(classes=["options"])
        for option in one.params:
            if not getattr(option, "hidden", False):
                listed += item(option)
        section += listed
        return section


def text_of(paragraph: str) -> nodes.Node:
    """Return a paragraph of a help text; an example is shown as typed."""
    start, found, typed = paragraph.partition("cosep ")
    if found and (not start or start.startswith("Example")):
        return nodes.literal_block(paragraph, found + typed.replace("\n", " "), language="none")
    return nodes.paragraph("", " ".join(paragraph.split()))


def item(option: Any) -> nodes.definition_list_item:
    """Return one argument or option with its help and its default."""
    names = (
        [*option.opts, *option.secondary_opts] if option.opts[0].startswith("-") else [option.metavar or option.name]
    )
    term = nodes.term()
    for i, name in enumerate(names):
        term += [nodes.Text(" / ")] if i else []
        term += nodes.literal("", name)
    said = option.help or ""
    given = option.default
    if given not in {None, False, ""} and "Default" not in said:
        said += f" Default: {'on' if given is True else given}."
    return nodes.definition_list_item("", term, nodes.definition("", nodes.paragraph("", said)))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("command-options", CommandOptions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
