"""The parts of Numba and llvmlite that their documentation does not promise, and the only file that imports them.

Everything else of NexDyn sees Numba through `numba`, `numba.types`, `numba.extending`, and this file. There are two tables here:

    LOW      documented, but deep: the low-level extension API, LLVM's builder, compiler events. SIMD lanes and rows are made of it.
             Where a part is missing NexDyn cannot run, and says which.
    PRIVATE  documented nowhere: what `nexdyn.compiler` builds on. Where a part is missing, functions are compiled by Numba's public
             `njit` instead (`compiler.plain`): the start is slower, the results are the same.

The tables are checked when the package's kernels are imported (about a millisecond), whatever the version says: a version of Numba
newer than those that NexDyn was tested with serves as long as it has these parts. A paragraph of a table is a class or a module,
why it is needed, and its members:

    name         an attribute
    name(a, b)   a callable that takes these two arguments by position; `*` stands for any number
    self.name    an attribute that the objects of the class have

`NEXDYN_PLAIN_NUMBA=1` compiles by public means even where all parts are there.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import llvmlite
import numba
from llvmlite import binding as llvm
from llvmlite import ir
from numba import types

with contextlib.suppress(ImportError):  # where one is missing the check below names it
    from numba.core import cgutils, event
    from numba.core.errors import NumbaError, NumbaWarning
    from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic, lower_setattr_generic
    from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
    from numba.extending import lower_builtin, lower_cast, models, overload, register_model
with contextlib.suppress(ImportError):  # the same, and nobody asks for it
    from llvmlite.binding import ffi, newpassmanagers
    from numba.core import bytecode, caching, codegen, compiler, dispatcher, targetconfig
    from numba.core import ir as numba_ir
    from numba.core.registry import CPUDispatcher
    from numba.core.types import functions
    from numba.core.typing import templates
    from numba.np import arrayobj

__all__ = [
    "AbstractTemplate", "AttributeTemplate", "CPUDispatcher", "NumbaError", "NumbaWarning", "arrayobj", "bytecode", "caching", "cgutils",
    "codegen", "compiler", "dispatcher", "event", "ffi", "functions", "impl_ret_borrowed", "infer_getattr", "infer_global", "ir", "llvm",
    "lower_builtin", "lower_cast", "lower_getattr_generic", "lower_setattr_generic", "models", "newpassmanagers", "numba_ir", "overload",
    "register_model", "signature", "targetconfig", "templates", "types",
]  # fmt: skip

PLAIN = "NEXDYN_PLAIN_NUMBA"


class Part(NamedTuple):
    """What is needed of one thing."""

    where: str
    """module:name, or a module."""
    why: str
    members: str


def _table(text: str) -> tuple[Part, ...]:
    """A part a paragraph: where, two or more spaces, why; below, indented, its members. Lines that begin with # are headings."""
    parts: list[Part] = []
    for line in text.strip().splitlines():
        if line.startswith(" "):
            parts[-1] = parts[-1]._replace(members=f"{parts[-1].members}{line}")
        elif line and not line.startswith("#"):
            where, _, why = line.partition("  ")
            parts.append(Part(where, why.strip(), ""))
    return tuple(parts)


LOW = _table("""
numba.extending                             operators, lanes and rows as types and instructions of the compiler
    intrinsic overload(function) type_callable(function) lower_builtin(function,*) lower_cast(from,to) models register_model(type)
numba.core.cgutils                          how arrays and tuples lie in memory
    alloca_once_value(builder,value) create_struct_proxy(type) do_boundscheck(context,builder,index,count,axis)
    if_unlikely(builder,condition) get_item_pointer2(context,builder,data,shape,strides,layout,indices)
    get_or_insert_function(module,type,name) normalize_ir_text(text) pack_array(builder,values) unpack_tuple(builder,tuple,count) voidptr_t
numba.core.typing.templates                 types of operators on lanes
    AbstractTemplate AttributeTemplate infer_global(operator) infer_getattr(template) signature(result,*)
numba.core.imputils                         views of arrays; attributes of records
    impl_ret_borrowed(context,builder,type,value) lower_getattr_generic(type) lower_setattr_generic(type)
numba.core.event                            when compiling begins and ends: progress, and times without it
    Listener register(kind,listener)
numba.core.dispatcher:Dispatcher            compiled functions of users; kernels of one signature
    disable_compile() nopython_signatures self.py_func
numba.core.cpu:CPUContext                   code of intrinsics
    call_conv enable_boundscheck get_dummy_value() get_value_type(type) make_tuple(builder,type,values) cast(builder,value,from,to)
    get_constant(type,value) get_abi_sizeof(type)
numba.core.callconv:CPUCallConv             rows outside an array, where bounds are checked
    return_user_exc(builder,exception,arguments)
llvmlite.ir                                 code of intrinsics
    Constant DoubleType FunctionType IRBuilder IntType Undefined VectorType VoidType
llvmlite.binding                            how many lanes fill a register
    get_host_cpu_features() get_host_cpu_name()
""")
"""Documented, but deep."""

PRIVATE = _table("""
# kernels on disk: in folders named by a hash of all sources, in files that two processes may write at once
numba.core.caching:_CacheLocator            folders and stamps of NexDyn's own; Numba's stamp does not see the files of callees
    get_cache_path() get_source_stamp() get_disambiguator() from_function(function,file) ensure_cache_path()
numba.core.caching:CompileResultCacheImpl   machine code without its parts; bitcode in its place
    _locator_classes reduce(made) rebuild(context,payload) check_cachable(made) locator filename_base
numba.core.caching:IndexDataCacheFile       a file for each signature, in place of an index that another process may overwrite
    save(key,data) load(key) flush() _save_data(name,data) _load_data(name) _data_name(number) self._version self._source_stamp
numba.core.caching:FunctionCache            a cache that never stops the work, and looks into the package, too
    _impl_class load_overload(signature,context) _load_overload(signature,context) save_overload(signature,data) flush()
    _index_key(signature,codegen) self._impl self._cache_path self._cache_file

# dispatchers: formulas that become bitcode, entries that become machine code
numba.core.registry:CPUDispatcher           formulas are compiled once for all values, and never entered by Python
    get_call_template(args,kws) compile(signature) add_overload(made) _compile_for_args(*) get_overload(signature) self.py_func
    self.overloads self._compiler self._cache
numba.core.dispatcher:_FunctionCompiler     an entry calls its formula and does nothing else
    _get_implementation(args,kws)
numba.core.options:DefaultOptions           copied formulas; no entry points that nobody calls; no counting of references
    forceinline no_cfunc_wrapper no_cpython_wrapper _nrt
numba.core.bytecode:FunctionIdentity        bitcode of two processes must not meet under one name
    _unique_ids

# what functions compile to: the compiler, into libraries of NexDyn's own
numba.core.compiler:Compiler                formulas end as bitcode, entries as machine code
    compile_extra(function) self.state
numba.core.compiler:CompileResult           what was compiled, taken apart for the disk and put together again
    _fields _replace target_context typing_context library environment entry_point fndesc type_annotation signature objectmode
    lifted typing_error call_helper metadata reload_init referenced_envs
numba.core.funcdesc:FunctionDescriptor      types of variables go once a function is compiled
    self.typemap self.calltypes
numba.core.cpu:CPUContext                   libraries and their entry points
    codegen() get_executable(library,description,environment)
numba.core.codegen:JITCodeLibrary           LLVM's modules: in a context of their own, linked late, freed early, frames aligned for lanes
    add_ir_module(module) add_llvm_module(module) finalize() codegen name has_dynamic_globals get_defined_functions()
    get_pointer_to_function(name) serialize_using_object_code() enable_object_caching() _optimize_functions(module)
    _optimize_final_module() _finalize_final_module() _finalize_specific() _finalize_dynamic_globals() _verify_declare_only_symbols()
    _get_module_for_linking() _set_compiled_object(code) _finalized self._codegen self._final_module self._linking_libraries
    self._dynamic_globals
numba.core.codegen:JITCPUCodegen            machine code beside the engine, which would keep every module
    _create_empty_module(name) _module_pass_manager(*) _function_pass_manager() magic_tuple() set_env(name,environment)
    self._data_layout self._opt_level self._tm self._engine
numba.core.codegen:JitEngine                machine code of parts, loaded by name
    is_symbol_defined(name) _load_defined_symbols(module) self._ee self._defined_symbols
numba.core.datamodel.models:TupleModel      arrays of tuples are handed over by a few of their values
    get(builder,value,place) set(builder,value,member,place) get_argument_type() as_argument(builder,value) get_value_type()
    from_argument(builder,value) self._members self._models
numba.core.datamodel.models:ArrayModel      the order of an array's values: see ARRAY
    self._fields

# what llvmlite frees, and when
llvmlite.binding.ffi:ObjectRef              15 kB for each function that is compiled
    _dispose() closed
llvmlite.binding.newpassmanagers            the same
    NewPassManager ModulePassManager FunctionPassManager
llvmlite.binding:ModuleRef                  a context frees its modules: not a second time
    _dispose() self._context link_in(module) as_bitcode() verify() get_function(name) functions global_variables
llvmlite.binding                            modules in contexts of their own
    create_context() parse_assembly(text,context) parse_bitcode(bytes,context) Linkage ObjectFileRef
llvmlite.binding:ExecutionEngine            machine code of parts
    add_object_file(file)
llvmlite.binding:TargetMachine              machine code beside the engine
    emit_object(module)

# compile time: what Numba asks again and again
numba.core.targetconfig:TargetConfig        flags compared at once
    __eq__(other) __hash__() options self._values
numba.core.ir                               variables of a statement listed at once
    Inst Var Loc
numba.core.ir:Inst                          the same
    _rec_list_vars(value)
numba.core.types.functions:BaseFunction     meanings remembered
    get_call_type(context,args,kws) self._impl_keys self.templates
numba.core.types.functions:Function         the same
    self._code
numba.core.typing.templates                 the same
    FunctionTemplate _OverloadFunctionTemplate
numba.core.typing.templates:FunctionTemplate  the same
    get_impl_key(signature)
numba.core.dispatcher                       no timers in what is compiled inside others
    ev
numba.core.event                            the same
    install_timer(kind,callback)
numba.np.arrayobj                           words for arrays of different lengths
    fancy_setslice(context,builder,signature,args,types,indices)
""")
"""Documented nowhere."""

ARRAY = ("meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides")
"""An array's values, in the order in which `compiler.codegen` hands them over."""


def absent(parts: tuple[Part, ...]) -> list[str]:
    """What the installed Numba and llvmlite lack of `parts`, by name."""
    found = [name for part in parts for name in _absent(part)]
    if parts is PRIVATE and not found and _order_of_arrays() != ARRAY:
        found.append(f"numba.core.datamodel.models.ArrayModel with {', '.join(ARRAY)}")
    return found


def _absent(part: Part) -> Iterator[str]:
    module, _, name = part.where.partition(":")
    try:
        thing: Any = importlib.import_module(module)
        thing = getattr(thing, name) if name else thing
    except (ImportError, AttributeError):
        yield part.where.replace(":", ".")
        return
    for member in _MEMBER.finditer(part.members):
        if not _has(thing, *member.groups()):
            yield f"{part.where.replace(':', '.')}.{member[0].removeprefix('self.')}"


_MEMBER = re.compile(r"(self\.)?(\w+)(?:\(([^)]*)\))?")


def _has(thing: Any, of_objects: str | None, name: str, arguments: str | None) -> bool:
    if of_objects:
        return any(name in code.co_names for code in _codes(thing)) or hasattr(thing, name)
    if not hasattr(thing, name):
        return False
    member = getattr(thing, name)
    return arguments is None or (callable(member) and _takes(thing, member, [x for x in arguments.split(",") if x]))


@functools.cache
def _codes(cls: type) -> list[Any]:
    """The code of all methods of a class, inherited ones included: it names the attributes that they set."""
    methods = (vars(base).values() for base in cls.__mro__)
    return [f.__code__ for members in methods for f in members if hasattr(f, "__code__")]


def _takes(owner: Any, f: Any, arguments: list[str]) -> bool:
    """Whether `f` takes the arguments by position. What does not say what it takes is trusted."""
    bound = getattr(f, "__self__", None) is not None
    f = getattr(f, "__wrapped__", getattr(f, "__func__", f))
    code = getattr(f, "__code__", None)
    if code is None:
        return True
    count = len(arguments) + (bound or isinstance(owner, type))
    most, least = code.co_argcount, code.co_argcount - len(f.__defaults__ or ())
    if arguments and arguments[-1] == "*":
        return count - 1 <= most or bool(code.co_flags & _VARIABLE)
    return least <= count and (count <= most or bool(code.co_flags & _VARIABLE))


_VARIABLE = 0x04  # inspect.CO_VARARGS; importing inspect takes longer than the check


def _order_of_arrays() -> tuple[str, ...]:
    """The names of an array's values, as the data model says them."""
    try:
        from numba.core.datamodel import default_manager
    except ImportError:
        return ()
    return tuple(default_manager[types.Array(types.float64, 1, "C")]._fields)


@functools.cache
def missing() -> tuple[str, ...]:
    """The private parts that the installed Numba and llvmlite lack, by name."""
    return tuple(absent(PRIVATE))


def wants_plain() -> bool:
    """Whether the user asked for public means."""
    return os.environ.get(PLAIN, "0") not in ("", "0")


@functools.cache
def is_plain() -> bool:
    """Whether functions are compiled by public means."""
    return wants_plain() or bool(missing())


def versions() -> dict[str, str]:
    """Versions of what generates code."""
    return {"Numba": numba.__version__, "llvmlite": llvmlite.__version__}


if needed := absent(LOW):
    raise ImportError(
        f"NexDyn cannot run with Numba {numba.__version__} and llvmlite {llvmlite.__version__}: they lack {', '.join(needed)}"
    )
