"""The system-call filter: number tables (syscalls), one policy table (policy), and its compiler (bpf)."""
