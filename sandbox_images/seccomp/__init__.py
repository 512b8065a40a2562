"""The system-call filter: number tables (syscalls), the policies STRICT and STANDARD (policy), compilers for
the kernel (bpf) and for container engines (docker), and tables for people (describe)."""
