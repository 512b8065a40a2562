"""What the demo's numbers are called, on the screen and in the chart."""

from __future__ import annotations

from dpgate.demo.found import Answer

LABELS = {
    "women_to_50k": "women, up to 50k dollars",
    "women_over_50k": "women, over 50k dollars",
    "men_to_50k": "men, up to 50k dollars",
    "men_over_50k": "men, over 50k dollars",
    "mean_age": "age in years",
    "mean_height": "height in cm",
    "mean_weight": "weight in kg",
}


def plus_minus(answer: Answer) -> str:
    return f"{answer.value:.1f} ± {answer.within:.1f}"
