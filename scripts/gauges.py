"""What `scripts/circles` and `scripts/house` measure of the source, read with `ast` and never imported."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
FACE = "nexdyn"
"""The package's own `__init__`: it imports what a user asks for, by name."""
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
CONSTANT = re.compile(r"[A-Z][A-Z0-9_]*\Z")


@dataclass(frozen=True, eq=False)
class Module:
    """A module of the package: its dotted name, its text, and whether it is a package."""

    name: str
    text: str
    package: bool = False

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @cached_property
    def code(self) -> set[int]:
        """The lines with code: without blank lines, comments and docstrings."""
        idle = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
        lines: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type not in idle:
                lines.update(range(token.start[0], token.end[0] + 1))
        for node in self.nodes:
            for statement in getattr(node, "body", []) if isinstance(node, DOCUMENTED) else []:
                if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                    lines -= set(_lines(statement))
        return lines

    @cached_property
    def importing(self) -> set[int]:
        """The lines of import statements."""
        found = (node for node in self.nodes if isinstance(node, ast.Import | ast.ImportFrom))
        return {line for node in found for line in _lines(node)} & self.code

    @cached_property
    def functions(self) -> list[tuple[str, int]]:
        """(name, lines from `def` to the end) of all functions."""
        found = (node for node in self.nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
        return [(node.name, len(_lines(node))) for node in found]


def modules(source: Path = SOURCE) -> dict[str, Module]:
    """The modules below a folder, by dotted name."""
    found = {}
    for path in sorted(source.rglob("*.py")):
        parts = list(path.relative_to(source).with_suffix("").parts)
        package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if package else parts)
        found[name] = Module(name, path.read_text(encoding="utf-8"), package)
    return found


# --- imports --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Import:
    """An import of one module by another. lazy: in a function; by_name: through `import_module`."""

    importer: str
    imported: str
    line: int
    lazy: bool
    by_name: bool = False


def imports(found: Mapping[str, Module]) -> list[Import]:
    """All imports among the modules, each once, lazy ones included; not those for type checkers alone."""
    return list(dict.fromkeys(one for module in found.values() for one in _imports_of(module, found)))


def _imports_of(module: Module, found: Mapping[str, Module]) -> Iterator[Import]:
    waiting: list[tuple[ast.AST, bool]] = [(module.tree, False)]
    while waiting:
        node, lazy = waiting.pop()
        if isinstance(node, ast.If) and _last(node.test) == "TYPE_CHECKING":
            waiting += [(other, lazy) for other in node.orelse]
            continue
        for name in _named(node, module):
            if (imported := _nearest(name, found)) is not None and imported != module.name:
                yield Import(module.name, imported, node.lineno, lazy, isinstance(node, ast.Call))  # type: ignore[attr-defined]
        inside = lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        waiting += [(child, inside) for child in ast.iter_child_nodes(node)]


def _named(node: ast.AST, module: Module) -> list[str]:
    """The dotted names that a node imports; of an f-string what stands before its first value."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        parts = module.name.split(".")
        above = parts[: len(parts) - node.level + module.package] if node.level else []
        base = ".".join([*above, *([node.module] if node.module else [])])
        return [f"{base}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call) and _last(node.func) == "import_module" and node.args:
        first: ast.AST = node.args[0]
        if isinstance(first, ast.JoinedStr) and first.values:
            first = first.values[0]
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            return [first.value.rstrip(".")]
    return []


def _last(node: ast.AST) -> str:
    """The last word of `a.b.word`, or of `word`."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _nearest(name: str, found: Mapping[str, Module]) -> str | None:
    """The module that `name` is, or is in."""
    while name:
        if name in found:
            return name
        name = name.rpartition(".")[0]
    return None


def by_name(found: Iterable[Import]) -> list[Import]:
    """Imports of the package's own modules through `import_module`, but for the face's, and a room's of pages in its own table."""
    return [one for one in found if one.by_name and one.importer != FACE and not _in_own_room(one)]


def _in_own_room(one: Import) -> bool:
    room = one.importer.rpartition(".")[0]
    return "." in room and one.imported.startswith(f"{room}.")


def circles(found: Iterable[Import]) -> list[list[str]]:
    """The sets of modules that import each other (strongly connected components of two or more), the largest first.

    Imports by name do not count here: those of the package lead upward, each closes a circle, and `by_name` has them all.
    Tarjan, SIAM J. Comput. 1 (1972).
    """
    below: dict[str, set[str]] = {}
    for one in (one for one in found if not one.by_name or _in_own_room(one)):
        below.setdefault(one.importer, set()).add(one.imported)
        below.setdefault(one.imported, set())
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    open_: list[str] = []
    result: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        open_.append(name)
        for other in sorted(below[name]):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in open_:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            at = open_.index(name)
            if len(open_) - at > 1:
                result.append(sorted(open_[at:]))
            del open_[at:]

    for name in sorted(below):
        if name not in index:
            visit(name)
    return sorted(result, key=lambda names: (-len(names), names))


# --- offsets, private attributes, reflection, kinds -----------------------------------------------------------------


def offsets(found: Mapping[str, Module]) -> dict[str, set[str]]:
    """Of each module the names in capitals that it sets to a whole number, or to several of a range, or imports from one that does:
    they may be places in tables and vectors."""
    names: dict[str, set[str]] = {name: set() for name in found}
    taken = {m.name: [node for node in m.nodes if isinstance(node, ast.ImportFrom)] for m in found.values()}
    before = -1
    while before < (before := sum(map(len, names.values()))):  # what is set to an imported name comes a round later
        for module in found.values():
            own = names[module.name]
            for node in taken[module.name]:
                of = names.get(node.module or "", set())
                own.update(alias.asname or alias.name for alias in node.names if alias.name in of)
            for target, value in (pair for node in module.tree.body for pair in _assigned(node)):
                several = isinstance(target, ast.Tuple) and isinstance(value, ast.Call)
                if (several and ast.unparse(value.func) == "range") or _whole(value, own):  # type: ignore[attr-defined]
                    own.update(x.id for x in ast.walk(target) if isinstance(x, ast.Name) and CONSTANT.match(x.id))
    return names


def _assigned(node: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    """(target, value) of an assignment, those of `A, B = 0, 1` one by one."""
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        yield node.target, node.value
    for target in node.targets if isinstance(node, ast.Assign) else []:
        value = node.value  # type: ignore[attr-defined]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            yield from zip(target.elts, value.elts, strict=False)
        else:
            yield target, value


def _whole(value: ast.expr, known: set[str]) -> bool:
    match value:
        case ast.Constant(value=number):
            return type(number) is int
        case ast.Name(id=name):
            return name in known
        case ast.BinOp(left=left, right=right):
            return _whole(left, known) and _whole(right, known)
        case ast.UnaryOp(operand=operand):
            return _whole(operand, known)
    return False


def named_subscripts(module: Module, names: set[str]) -> list[int]:
    """The lines of subscripts that name an offset: `topology[i, PARENT]`, `memory[ITERATIONS]`, `x[FIRST:LAST]`.

    No offsets are how many there are, `x[:MOST]`, `x[-MOST:]`, what is compared with or called in a subscript, and the width of a row: a
    name that some subscript of the module multiplies."""
    found = [node for node in module.nodes if isinstance(node, ast.Subscript)]
    products = (
        x for node in found for x in ast.walk(node.slice) if isinstance(x, ast.BinOp) and isinstance(x.op, ast.Mult)
    )
    widths = {x.id for product in products for x in ast.walk(product) if isinstance(x, ast.Name)}
    return sorted(node.lineno for node in found if not (names - widths).isdisjoint(_places(node.slice)))


def _places(index: ast.expr | None) -> Iterator[str]:
    """The names in an index that may say where something stands."""
    match index:
        case ast.Name(id=name):
            yield name
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from _places(part)
        case ast.Slice(lower=lower):
            yield from _places(lower)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield from _places(left)
            yield from _places(right)
        case ast.BinOp(left=left, op=ast.Sub()):
            yield from _places(left)


NAMED_TUPLE = frozenset({"_replace", "_asdict", "_fields", "_field_defaults", "_make"})
"""What a NamedTuple has for all, by names that begin as private ones do."""


def foreign_privates(module: Module) -> list[tuple[int, str]]:
    """(line, x._name) of private attributes of what is not `self`, `cls` or `super()`, and that no class of the module has itself."""
    own = _own_names(module)
    return [
        (node.lineno, ast.unparse(node))
        for node in module.nodes
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
        and node.attr not in NAMED_TUPLE
        and node.attr not in own
        and ast.unparse(node.value) not in ("self", "cls", "super()")
    ]


def _own_names(module: Module) -> set[str]:
    """The names that classes of a module give themselves: methods, class attributes, and what is set on `self`."""
    own: set[str] = set()
    for cls in (node for node in module.nodes if isinstance(node, ast.ClassDef)):
        own |= {node.name for node in cls.body if isinstance(node, ast.FunctionDef)}
        for node in ast.walk(cls):
            for target, _ in _assigned(node):
                own |= {x.id for x in ast.walk(target) if isinstance(x, ast.Name)}
                own |= {
                    x.attr for x in ast.walk(target) if isinstance(x, ast.Attribute) and ast.unparse(x.value) == "self"
                }
    return own


PUBLIC = re.compile(r"numba(\.(types|extending|config)(\.|$)|\.\w+$|$)")
"""What Numba documents for all, by dotted name: itself and its names, its types, its extension API."""


def deep_imports(module: Module) -> list[tuple[int, str]]:
    """(line, name) of imports of Numba's insides and of llvmlite, those by `import_module` included."""
    nodes = (node for node in module.nodes if isinstance(node, ast.Import | ast.ImportFrom | ast.Call))
    names = ((node.lineno, name) for node in nodes for name in _named(node, module))
    return [
        (line, name)
        for line, name in names
        if name.partition(".")[0] == "llvmlite"
        or (name.partition(".")[0] == "numba" and not PUBLIC.match(name))
        or name in ("numba.core", "numba.np")
    ]


def private_names(module: Module) -> list[tuple[int, str]]:
    """(line, _name) of all private attributes, of whatever, and of methods and class attributes of such names."""
    found = [(node.lineno, node.attr) for node in module.nodes if isinstance(node, ast.Attribute)]
    for cls in (node for node in module.nodes if isinstance(node, ast.ClassDef)):
        found += [(node.lineno, node.name) for node in cls.body if isinstance(node, ast.FunctionDef)]
        found += [
            (node.lineno, x.id)
            for node in cls.body
            for target, _ in _assigned(node)
            for x in ast.walk(target)
            if isinstance(x, ast.Name)
        ]
    return [(line, name) for line, name in found if name.startswith("_") and not name.startswith("__")]


def reflections(module: Module) -> Counter[str]:
    """How often a module calls `hasattr`, and how often `vars`."""
    found = (node.func for node in module.nodes if isinstance(node, ast.Call))
    return Counter(f.id for f in found if isinstance(f, ast.Name) and f.id in ("hasattr", "vars"))


def naming(found: Mapping[str, Module], kind: str) -> dict[str, list[int]]:
    """The lines of code that name a joint's or force's kind, "point_spring" or "PointSpring", by module."""
    words = "".join(part.capitalize() for part in kind.split("_")) if kind.islower() else kind
    snake = re.sub(r"(?<!^)(?=[A-Z])", "_", words).lower()
    pattern = re.compile(rf"(?<![A-Za-z])({words}|{snake}|{snake.upper()})(?![A-Za-z])")
    lines = {
        name: [n for n, line in enumerate(module.text.splitlines(), 1) if n in module.code and pattern.search(line)]
        for name, module in found.items()
    }
    return {name: numbers for name, numbers in lines.items() if numbers}


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)
