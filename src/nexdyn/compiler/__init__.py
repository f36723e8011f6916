"""How Python's functions become machine code: what is built on the parts of Numba and llvmlite that `numba_parts` names.

    dispatchers   formulas and entries: what is compiled when, and for which types
    codegen       what they compile to, and what stays of it in the process
    machine_code  formulas that stay calls: machine code of their own, loaded beside every entry
    caches        what is kept on disk
    tiers         processors that kernels of a release are made for
    compile_time  what Numba asks again and again while it compiles, answered once
    plain         formulas and entries by Numba's public `njit` alone, where a part is missing

`nexdyn.kernel` has the decorators, and chooses.
"""
