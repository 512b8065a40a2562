"""The whole platform on one machine, started and ended by one process: `dpgate up` and `dpgate demo`."""
