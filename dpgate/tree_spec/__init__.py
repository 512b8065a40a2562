"""What the files of people in a BIDS tree look like, as a proposal for a declaration: headers only."""
