"""How near a twin comes to its original, and what it tells about people: pure measures, numbers in and out.

Nothing here is private by itself. A measure that was computed from original data is as sensitive as the
data: it goes to the rights holder alone, unless it was computed from released counts.

Reading order: sheet, then fidelity (marginals, association, moments), then risk (matches, nearest, datleak,
anonymity, rare_values), then the attacks (singling_out, linking) with proportions.
"""
