"""What functions compile to, and what stays of it in the process.

    a formula     bitcode that others link: `ToBitcode`, `ToOutlined`
    an entry      machine code that Python enters: `ToMachineCode`

A formula brings along the bitcode of what it calls. What is copied into its callers is part of their own bitcode. What stays a call is
kept apart (`BitcodeLibrary.parts`): the entry links it, or calls its machine code (`machine_code`).

Compiling a large entry takes some hundred megabytes. What is needed afterwards is little: the machine code, and the bitcode of
formulas as bytes. All else goes as soon as an entry or a formula is done:

    LLVM's modules       bitcode in memory is ten times as large as its bytes, and a hundred times as compressed ones. A formula is
                         parsed again by whoever links it. MCJIT keeps every module that it compiled and cannot give
                         one back; so machine code is emitted beside it, and it gets an empty module and the object file,
                         as it does where the file comes from the disk.
    LLVM's contexts      hold types and constants of all modules that were parsed in them, as long as they live. Each library has one.
                         A context frees its modules: see `_free_modules_once`.
    LLVM's pass managers llvmlite makes one a function and never frees it (15 kB each): see `_free_pass_managers`.
    Numba's own          types of variables and calls, annotations (which hold the function's code, line by line), timings.
"""

from __future__ import annotations

import gc
import zlib
from typing import Any

from nexdyn.compiler.interrupts import signals_wait
from nexdyn.compiler.machine_code import Part, link_near, load, make_private, needs_of, page_of
from nexdyn.compiler.options import LINE
from nexdyn.numba_parts import (
    cgutils,
    codegen,
    compiler,
    ffi,
    ir,
    llvm,
    models,
    newpassmanagers,
    register_model,
    types,
)


def _free_pass_managers() -> None:
    """Let llvmlite free its pass managers: of their two bases the first has a `_dispose` that does nothing."""
    for manager in (newpassmanagers.ModulePassManager, newpassmanagers.FunctionPassManager):
        if manager._dispose is ffi.ObjectRef._dispose:
            manager._dispose = newpassmanagers.NewPassManager._dispose


_free_pass_managers()


def _free_modules_once() -> None:
    """Let no module be freed after its context, which frees its modules. Where both are garbage of one cycle, Python frees them in any
    order, and llvmlite would free the module a second time."""
    if (free := llvm.ModuleRef._dispose).__name__ != "free_once":

        def free_once(module: Any) -> None:
            if not module._context.closed:
                free(module)

        llvm.ModuleRef._dispose = free_once


_free_modules_once()


class _ArrayArgument:
    """An array of a named tuple, as an argument: where it begins, and its lengths.

    The array has no gaps, so its strides follow from its lengths. Its owner is left out: no formula that makes arrays is given a named
    tuple of arrays that it hands back, so that nobody counts references to it."""

    def __init__(self, array: Any, model: Any) -> None:
        self._value, self._dimensions = model.get_value_type(), array.ndim
        self._itemsize = array.dtype.bitwidth // 8

    def get_argument_type(self) -> Any:
        _, _, number, _, data, _, _ = self._value.elements
        return data, *[number] * self._dimensions

    def as_argument(self, builder: Any, value: Any) -> Any:
        return tuple(builder.extract_value(value, place) for place in [4, *([5, k] for k in range(self._dimensions))])

    def from_argument(self, builder: Any, value: Any) -> Any:
        data, *shape = value
        owner, parent, number, _, _, lengths, _ = self._value.elements
        strides, items = [number(self._itemsize)], shape[-1]
        for length in shape[-2::-1]:
            strides.insert(0, builder.mul(items, strides[-1]))
            items = builder.mul(items, length)
        known = [number(ir.Undefined)] * (self._dimensions - 1) + strides[-1:]
        made = self._value(
            [
                owner(None),
                parent(None),
                number(ir.Undefined),
                strides[-1],
                data.type(ir.Undefined),
                lengths(ir.Undefined),
                lengths(known),
            ]
        )
        made = builder.insert_value(builder.insert_value(made, items, 2), data, 4)
        for k, length in enumerate(shape):
            made = builder.insert_value(made, length, [5, k])
        for k, stride in enumerate(strides[:-1]):
            made = builder.insert_value(made, stride, [6, k])
        return made


def _argument(of: Any, model: Any) -> Any:
    """How a member of a named tuple is handed over."""
    plain = isinstance(of, types.Array) and of.layout == "C" and of.ndim and hasattr(of.dtype, "bitwidth")
    return _ArrayArgument(of, model) if plain else model


@register_model(types.NamedTuple)
class _NamedTupleModel(models.TupleModel):
    """What functions are given of NexDyn's named tuples.

    Numba takes a tuple apart at each call, and puts it together again in what is called. A row of numbers is seven values, and tables
    have hundreds: half of what LLVM had to read did nothing else. Two of the seven say all: see `_ArrayArgument`."""

    def __init__(self, manager: Any, of: Any) -> None:
        super().__init__(manager, of)
        if of.instance_class.__module__.partition(".")[0] == "nexdyn":
            self._arguments = tuple(_argument(*member) for member in zip(self._members, self._models, strict=True))
        else:
            self._arguments = self._models

    def get_argument_type(self) -> Any:
        return tuple(member.get_argument_type() for member in self._arguments)

    def as_argument(self, builder: Any, value: Any) -> Any:
        return tuple(
            member.as_argument(builder, self.get(builder, value, k)) for k, member in enumerate(self._arguments)
        )

    def from_argument(self, builder: Any, value: Any) -> Any:
        made = ir.Constant(self.get_value_type(), ir.Undefined)
        for k, (member, given) in enumerate(zip(self._arguments, value, strict=True)):
            made = self.set(builder, made, member.from_argument(builder, given), k)
        return made


class _Library(codegen.JITCodeLibrary):
    """Code put together in a context of its own, whose frames on the stack start where lines of the cache do.

    A pack of lanes fills a line. LLVM would trust the caller's 16 bytes, and in three processes of four each pack put aside lie
    across two lines: thirty links by RK4 took 1.5 µs a step in one and up to 2.0 in another."""

    kept = True
    """Whether the parts that it calls are kept on disk."""

    def __init__(self, generator: Any, name: str) -> None:
        super().__init__(generator, name)
        self._context = llvm.create_context()
        self._final_module = llvm.parse_assembly(str(generator._create_empty_module(name)), self._context)

    def _finalize_specific(self) -> None:
        """Ctrl-C waits until the engine has finished: see ``interrupts``."""
        with signals_wait():
            super()._finalize_specific()

    def add_ir_module(self, ir_module: Any) -> None:
        for function in ir_module.functions:
            if not function.is_declaration:
                function.attributes.alignstack = LINE
                function.attributes.add("nounwind")  # llvmlite forgets an alignment that stands alone
        module = llvm.parse_assembly(cgutils.normalize_ir_text(str(ir_module)), self._context)
        module.name = ir_module.name
        module.verify()
        self.add_llvm_module(module)

    def _optimize_functions(self, ll_module: Any) -> None:
        """Each function alone; what is only declared needs none."""
        ll_module.data_layout = self._codegen._data_layout
        passes, builder = self._codegen._function_pass_manager()
        for function in ll_module.functions:
            if not function.is_declaration:
                passes.run(function, builder)

    def finalize(self) -> None:
        """What it calls is linked, by bytes from other contexts; then all is optimised."""
        parts: dict[str, Part] = {}
        for library in dict.fromkeys(self._linking_libraries):
            if isinstance(library, BitcodeLibrary):
                parts.update(library.parts)
                self._link(library.bitcode)
            else:
                self._link(library._get_module_for_linking().as_bitcode())
        self._linking_libraries = []
        self._take(parts)
        super().finalize()
        self._context = None

    def _link(self, bitcode: bytes) -> None:
        if bitcode:
            self._final_module.link_in(llvm.parse_bitcode(bitcode, self._context))

    def _take(self, parts: dict[str, Part]) -> None:
        """Receive the parts of what it calls; each comes after those that it calls. Both kinds of library say what they do with them."""
        raise NotImplementedError


class BitcodeLibrary(_Library):
    """What a formula compiles to: bitcode that others link, never machine code of its own.

    Once finished it is bytes, and a module only as long as a caller holds the requested one."""

    parts: dict[str, Part]
    """By name, each formula below that is not always copied, this one included; each comes after those that it calls."""

    apart = False
    """Whether it has machine code of its own."""
    page = ""
    """The file that it is written in, from the package's folder."""

    _module: Any = None  # while it is put together
    _bitcode = b""

    @property
    def bitcode(self) -> bytes:
        """The bytes, once it is finished; none where the formula is itself a part."""
        return zlib.decompress(self._bitcode) if self._bitcode else b""

    @property
    def _final_module(self) -> Any:
        return self._module or self._whole(llvm.create_context())

    @_final_module.setter
    def _final_module(self, module: Any) -> None:
        self._module = module

    def _whole(self, *context: Any) -> Any:
        """The formula and all that it calls in one module."""
        last_first = [zlib.decompress(part.bitcode) for part in reversed(self.parts.values())]
        first, *others = [self.bitcode, *last_first] if self._bitcode else last_first
        module = llvm.parse_bitcode(first, *context)
        for bitcode in others:
            module.link_in(llvm.parse_bitcode(bitcode, *context))
        return module

    def add_ir_module(self, ir_module: Any) -> None:
        (self._main,) = (f.name for f in ir_module.functions if not f.is_declaration and f.linkage in ("", "external"))
        super().add_ir_module(ir_module)

    def _take(self, parts: dict[str, Part]) -> None:
        self.parts = parts

    def _optimize_final_module(self) -> None:
        """Inlined and simplified, so that what links it finds little to do; loops are left to the entry."""
        _optimize(self, loop_vectorize=False, slp_vectorize=False, opt=self._codegen._opt_level, cost="cheap")

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        for function in self._module.functions:  # several callers may bring it along; one copy is kept
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = "linkonce_odr"
        bitcode = zlib.compress(self._module.as_bitcode(), 1)
        if b"alwaysinline" in b" ".join(self._module.get_function(self._main).attributes).split():
            self._keep(bitcode, self.parts)
        else:
            calls = tuple(f.name for f in self._module.functions if f.is_declaration and f.name in self.parts)
            kept = not self._dynamic_globals and all(self.parts[name].kept for name in calls)
            self._keep(b"", {**self.parts, self._main: Part(bitcode, self.apart, calls, self.page, kept)})

    def _keep(self, bitcode: bytes, parts: dict[str, Part]) -> None:
        self._bitcode, self.parts, self._module, self._finalized = bitcode, parts, None, True

    def _get_module_for_linking(self) -> Any:
        """For Numba's own libraries, which share one context."""
        return self._whole()

    def get_pointer_to_function(self, name: str) -> int:
        return 0

    def serialize_using_object_code(self) -> Any:
        return self.name, "bitcode", (self._bitcode, self.parts)

    @property
    def codegen(self) -> Any:
        return self

    def set_env(self, name: str, env: Any) -> None:
        """None: only what Python calls has an environment."""

    @classmethod
    def read(cls, generator: Any, name: str, bitcode: bytes, parts: dict[str, Part]) -> BitcodeLibrary:
        library = cls(generator, name)
        library._keep(bitcode, parts)
        return library


class _OutlinedLibrary(BitcodeLibrary):
    """What a formula becomes that is never copied into its callers."""

    apart = True

    def add_ir_module(self, ir_module: Any) -> None:
        for function in ir_module.functions:
            if not function.is_declaration:
                function.attributes.add("noinline")
        super().add_ir_module(ir_module)


class EntryLibrary(_Library):
    """What Python enters: all that is called, optimised once, and machine code. No other code links it."""

    object_code: bytes
    """The file of machine code, until it is on disk."""
    needs: tuple[str, ...] = ()
    """The parts that it calls."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._entered: set[str] = set()

    def add_ir_module(self, ir_module: Any) -> None:
        self._entered.update(f.name for f in ir_module.functions if not f.is_declaration)
        super().add_ir_module(ir_module)

    def finalize(self) -> None:
        """What formulas left behind goes before all of them are read at once."""
        gc.collect(1)
        super().finalize()

    def _take(self, parts: dict[str, Part]) -> None:
        self._parts = parts
        link_near(self._final_module, self._context, parts)

    def _optimize_final_module(self) -> None:
        make_private(self._final_module, self._entered)
        _optimize(self)

    def _finalize_final_module(self) -> None:
        """Machine code as if it came from the disk: the engine gets an empty module and the object file."""
        self.needs = needs_of(self._final_module, self._parts)
        self.kept = all(self._parts[name].kept for name in self.needs)
        load(self._codegen, self.needs, self._parts)
        self._parts = {}
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        names = self._names()
        code = self._codegen._tm.emit_object(self._final_module)
        self._final_module = llvm.parse_assembly(str(self._codegen._create_empty_module(self.name)))
        self.enable_object_caching()
        self._set_compiled_object(code)
        super()._finalize_final_module()
        self._codegen._engine._load_defined_symbols(names)
        self._final_module, self.object_code = names, code

    def serialize_using_object_code(self) -> Any:
        return self.name, "object", (self.object_code, self._final_module.as_bitcode(), self.needs)

    def _names(self) -> Any:
        """A module of nothing but the names that the machine code defines."""
        functions = [f.name for f in self.get_defined_functions() if f.linkage != llvm.Linkage.private]
        values = [v.name for v in self._final_module.global_variables if not v.is_declaration]
        lines = [f'define void @"{name}"() {{ ret void }}' for name in functions]
        return llvm.parse_assembly("\n".join(lines + [f'@"{name}" = global i8 0' for name in values]))


def _optimize(library: Any, **kwargs: Any) -> None:
    passes, builder = library._codegen._module_pass_manager(**kwargs)
    passes.run(library._final_module, builder)


class _Compiler(compiler.Compiler):
    """Numba's compiler, into a library of its own kind; what Numba keeps for inspection goes."""

    library: type[_Library]

    def compile_extra(self, function: Any) -> Any:
        self.state.library = self.library(self.state.targetctx.codegen(), function.__qualname__)
        self.state.library.page = page_of(function.__code__.co_filename)
        made = super().compile_extra(function)
        made.fndesc.typemap = made.fndesc.calltypes = None
        return made._replace(type_annotation="", metadata=None)


class ToBitcode(_Compiler):
    """The compiler of formulas, up to the optimised bitcode."""

    library = BitcodeLibrary


class ToOutlined(ToBitcode):
    """The same, for what is never copied into its callers."""

    library = _OutlinedLibrary


class ToMachineCode(_Compiler):
    """The compiler of entries."""

    library = EntryLibrary
