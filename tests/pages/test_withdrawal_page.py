"""The pages on which a rights holder withdraws a data set, and has it erased."""

from __future__ import annotations

from serving import Console, words

PAGE = "/datasets/heights/withdrawal"
ERASURE = "/datasets/heights/erasure"


def test_the_name_is_typed_before_a_data_set_is_withdrawn_or_erased(console: Console):
    with console.visit("holder") as holder, console.visit("ada") as ada:
        assert ada.get(PAGE).status_code in (403, 404)
        said = words(holder.get(PAGE))
        assert "cancelled, and their budget comes back" in said
        wrong = holder.send(PAGE, name="weights", running="finish")
        assert (wrong.status_code, "Type heights." in words(wrong)) == (422, True)
        assert "takes nothing new" not in words(holder.get("/datasets/heights"))
        done = holder.send(PAGE, name="heights", running="finish")
        assert done.status_code == 303, words(done)
        for visitor in (holder, ada):
            assert "Its rights holder has withdrawn it" in words(visitor.get("/datasets/heights"))
        assert "cannot be undone" in words(holder.get(ERASURE))
        wrong = holder.send(ERASURE, name="weights")
        assert (wrong.status_code, "Say heights." in words(wrong)) == (422, True)
        assert "being erased" not in words(holder.get(ERASURE))
        assert ada.get(ERASURE).status_code in (403, 404)
        done = holder.send(ERASURE, name="heights")
        assert done.status_code == 303, words(done)
        assert "It is being erased" in words(holder.get(ERASURE))
