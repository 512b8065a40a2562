"""`python -m dpgate` is the `dpgate` command."""

from dpgate.cli import main

main()
