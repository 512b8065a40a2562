"""What a person may ask for: one function a use case, one file a noun.

`(database, who, request) -> answer`. Each states its right (`desk.rights`), opens its transactions, and does
rights, admission, ledger and notices in order; messages to workers leave after the commit. Nothing here knows
of addresses, pages or tokens.
"""
