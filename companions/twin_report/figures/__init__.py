"""Drawings of a report as SVG text: numbers in, text out, made of the pages' own axes."""
