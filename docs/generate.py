"""Write the parts of the documentation that the code knows best, between their marks.

A page holds ``<!-- begin NAME -->`` and ``<!-- end NAME -->``; what stands between them is made
here from docstrings and tables in the code. ``make docs`` runs this, and a test fails when a
page is out of date.
"""

from __future__ import annotations

import importlib
import inspect
import re
import types
import typing
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from agtail import model
from agtail.agents import adapter_class, agent_ids, harness_of, package_of

DOCS = Path(__file__).parent

SCHEMAS = DOCS.parent / "src" / "agtail" / "schemas" / "__init__.py"

PAGES = (
    "../README.md",
    "install.md",
    "model.md",
    *(f"agents/{agent}.md" for agent in agent_ids()),
)

STRUCTS = (
    model.Session,
    model.Event,
    model.Result,
    model.Usage,
    model.Blob,
    model.Source,
    model.Integrity,
)
"""In the order of the page: what a reader meets first."""

_REGION = re.compile(r"(<!-- begin ([\w:.-]+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)
_ENTRY = re.compile(r"^(\w+(?:, \w+)*):\s*(.*)", re.DOTALL)


def regenerate(page: str) -> str:
    """Return the text of a page with every marked part made anew.

    Raises:
        ValueError: a mark that nothing makes, or a field without documentation.
    """
    text = (DOCS / page).read_text("utf-8")
    return _REGION.sub(lambda part: f"{part[1]}{_make(part[2])}{part[3]}", text)


def _make(name: str) -> str:
    maker, _, argument = name.partition(":")
    try:
        make = _MAKERS[maker]
    except KeyError:
        raise ValueError(f"nothing makes {name}") from None
    return "\n".join(make(argument)) + "\n"


def _structs(_argument: str) -> Iterator[str]:
    for struct in STRUCTS:
        summary, attributes = _docstring(struct)
        yield from ("", f"## {struct.__name__}", "", summary, "")
        yield from ("| field | JSON | |", "|---|---|---|")
        hints = typing.get_type_hints(struct)
        for field in msgspec.structs.fields(struct):
            if field.name not in attributes:
                raise ValueError(f"{struct.__name__}.{field.name} is not documented")
            kind = _json_type(hints[field.name])
            yield f"| `{field.encode_name}` | {kind} | {attributes[field.name]} |"
    yield ""


def _docstring(struct: type[msgspec.Struct]) -> tuple[str, dict[str, str]]:
    """Split a docstring into its prose and the text for each attribute."""
    text, _, listed = (inspect.getdoc(struct) or "").partition("\nAttributes:\n")
    attributes: dict[str, str] = {}
    for entry in re.split(r"\n(?=    \w)", "\n" + listed):
        found = _ENTRY.match(inspect.cleandoc(entry))
        if found:
            for name in found[1].split(", "):
                attributes[name] = _wire_names(" ".join(found[2].split()), struct)
    return _wire_names(" ".join(text.split()), struct), attributes


def _wire_names(text: str, struct: type[msgspec.Struct]) -> str:
    """Turn Sphinx roles and Python names into what a reader of the JSON sees."""
    names = {field.name: field.encode_name for field in msgspec.structs.fields(struct)}
    text = re.sub(r":\w+:`~?\.?([^`]+)`", r"`\1`", text).replace("``", "`")
    return re.sub(r"`(\w+)`", lambda found: f"`{names.get(found[1], found[1])}`", text)


def _json_type(hint: object) -> str:
    """Name the JSON type of a field, absence left aside."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return " or ".join(_json_type(each) for each in arguments if each is not type(None))
    if origin is typing.Literal:
        return " ".join(f"`{value}`" for value in arguments)
    if origin is list:
        return f"list of {_json_type(arguments[0])}"
    if origin is dict:
        return f"object of {_json_type(arguments[1])}"
    return _JSON_TYPES.get(hint, getattr(hint, "__name__", "any"))


_JSON_TYPES: dict[object, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    typing.Any: "any JSON",
}


def _elided(agent: str) -> Iterator[str]:
    module = importlib.import_module(adapter_class(agent).__module__)
    yield from ("", "| field | why |", "|---|---|")
    for field, reason in module.ELIDED.items():
        yield f"| `{field}` | {reason} |"
    yield ""


def _harness(agent: str) -> Iterator[str]:
    """Say where an agent writes, what moves that, and how to go back to a session."""
    harness = harness_of(agent)
    yield from ("", "| path | holds | format | |", "|---|---|---|---|")
    for place in harness.locations:
        systems = "" if len(place.systems) == len(_SYSTEMS) else _systems(place.systems)
        note = "; ".join(filter(None, (systems, place.note)))
        yield f"| {_code(place.pattern)} | {place.holds} | {place.format} | {_cell(note)} |"
    if harness.variables:
        yield from ("", "| variable | |", "|---|---|")
        for variable in harness.variables:
            yield f"| `{variable.name}` | {_cell(variable.meaning)} |"
    commands = {
        "Resume": harness.resume,
        "Without a terminal": harness.headless,
        "That in JSON": harness.headless and harness.headless_json,
    }
    if any(commands.values()):
        said = (f"{name}: `{' '.join(words)}`." for name, words in commands.items() if words)
        yield from ("", " ".join(said))
    yield ""


_SYSTEMS = {"linux": "Linux", "macos": "macOS", "windows": "Windows"}


def _systems(systems: tuple[str, ...]) -> str:
    return " and ".join(_SYSTEMS[each] for each in systems)


def _code(text: str) -> str:
    return f"`{_cell(text)}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _agents(_argument: str) -> Iterator[str]:
    yield from ("", "| agent | where | versions seen |", "|---|---|---|")
    for agent in agent_ids():
        harness = harness_of(agent)
        link = f"[{harness.title}](docs/agents/{agent}.md)"
        versions = harness.versions if harness.evidence == "run" else f"{harness.versions} \\*"
        yield f"| {link} | {_code(harness.where)} | {versions} |"
    yield ""


def _places(_argument: str) -> Iterator[str]:
    yield from ("", "| agent | sessions in | moved by |", "|---|---|---|")
    for agent in agent_ids():
        harness = harness_of(agent)
        variables = ", ".join(f"`{variable.name}`" for variable in harness.variables)
        link = f"[{harness.title}](agents/{agent}.md)"
        yield f"| {link} | {_code(harness.where)} | {variables or '-'} |"
    yield ""


_MAKERS: dict[str, Callable[[str], Iterator[str]]] = {
    "structs": _structs,
    "elided": _elided,
    "harness": _harness,
    "agents": _agents,
    "places": _places,
}


def schemas() -> str:
    """Return the module that publishes the shapes of all agents."""
    head, mark, _ = SCHEMAS.read_text("utf-8").partition(_PUBLISHED)
    packages = sorted(map(package_of, agent_ids()))
    lines = (f"from {package}.schema import *  # noqa: F403" for package in packages)
    return f"{head}{mark}" + "".join(f"{line}\n" for line in lines)


_PUBLISHED = "# One line an agent, written by docs/generate.py; all names begin with the agent's.\n"


if __name__ == "__main__":
    for name in PAGES:
        (DOCS / name).write_text(regenerate(name), "utf-8")
    SCHEMAS.write_text(schemas(), "utf-8")
