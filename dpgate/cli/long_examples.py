"""Examples of commands that are too long for the table of all commands."""

MAINTENANCE = "dpgate maintenance on 'the disks are exchanged' --until 2027-01-31T18:00 --profile operator"
PERTURB = "dpgate perturb ecg.npy --lower=-13 --upper 14 --epsilon 1 -o noised.npy"
ENTITLEMENT = "dpgate entitlement add 'urn:mace:example.org:group:heart#example.org' --project sleep"
DECIDE = "dpgate twin decide dataset.yaml --column email --decision drop --why 'Not needed.'"
NAME_LEAD = "dpgate project name-lead sleep bob --profile operator"
PROJECT_NEW = (
    "dpgate project new sleep --title 'Sleep and memory' --purpose 'How one bears on the other.' "
    "--until 2027-01-31"
)
REGISTER = "dpgate dataset register -d dataset.yaml --delivery NUMBER"
COMPARE = "dpgate twin compare --original data --twin twin -d dataset.yaml"
REPORT = "dpgate twin report --original data --twin twin -d dataset.yaml --out report"
ENROL = (
    "dpgate ledger enrol 5b03c62e-b47c-44d4-88bb-cf104222b8b6 "
    "mB9q0jS3n7lqG0pYt5bKk1c2vXw4rZ8uQe6hDf3aTiM= --confirmed 'd2a8 41f0 ...'"
)
