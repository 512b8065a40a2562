# One mean per column over the people who have a value; `n/a` where nobody has.
BEGIN {
    FS = "\t"
    columns = split("age Height Weight", names, " ")
}
{ sub(/\r$/, "") }
NR == 1 {
    for (place = 1; place <= NF; place++) place_of[$place] = place
    next
}
{
    for (i = 1; i <= columns; i++) {
        value = $place_of[names[i]]
        if (value != "n/a") { sum[i] += value; people[i]++ }
    }
}
END {
    for (i = 1; i <= columns; i++) {
        mean = people[i] ? sprintf("%.17g", sum[i] / people[i]) : "n/a"
        printf "%s%s", mean, i < columns ? "\t" : "\n"
    }
}
