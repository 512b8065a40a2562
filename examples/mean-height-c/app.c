/* A BIDS app: app INPUT OUTPUT participant|group. The C library only.
 *
 * The participant level has nothing to do here; the group level writes the mean age, height and weight of the
 * people in INPUT, one row without a header, to OUTPUT/derivatives/group/results.tsv.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { COLUMNS = 3, LONGEST_LINE = 65536, LONGEST_PATH = 4096 };

static const char *const names[COLUMNS] = {"age", "Height", "Weight"};

struct mean {
    int place; /* of its column in a line, from 0; -1 where the table has none */
    double sum;
    long people;
};

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static FILE *open_below(const char *folder, const char *name, const char *mode)
{
    char path[LONGEST_PATH];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, mode);
    if (file == NULL)
        fail(path);
    return file;
}

/* The next cell of a line, which is cut in place; NULL after the last. */
static char *next_cell(char **line)
{
    return strsep(line, "\t");
}

static void find_columns(char *header, struct mean *means)
{
    char *cell;
    for (int column = 0; column < COLUMNS; column++)
        means[column].place = -1;
    for (int place = 0; (cell = next_cell(&header)) != NULL; place++)
        for (int column = 0; column < COLUMNS; column++)
            if (strcmp(cell, names[column]) == 0)
                means[column].place = place;
}

static void add_person(char *line, struct mean *means)
{
    char *cell;
    for (int place = 0; (cell = next_cell(&line)) != NULL; place++)
        for (int column = 0; column < COLUMNS; column++)
            if (means[column].place == place && strcmp(cell, "n/a") != 0) {
                means[column].sum += strtod(cell, NULL);
                means[column].people++;
            }
}

static void read_people(const char *input, struct mean *means)
{
    static char line[LONGEST_LINE];
    FILE *table = open_below(input, "participants.tsv", "r");
    for (int row = 0; fgets(line, sizeof line, table) != NULL; row++) {
        line[strcspn(line, "\r\n")] = '\0';
        if (row == 0)
            find_columns(line, means);
        else
            add_person(line, means);
    }
    fclose(table);
}

static void write_results(const char *output, const struct mean *means)
{
    char folder[LONGEST_PATH];
    snprintf(folder, sizeof folder, "%s/derivatives", output);
    if (mkdir(folder, 0755) != 0)
        fail(folder);
    FILE *description = open_below(folder, "dataset_description.json", "w");
    fputs("{\"Name\": \"mean-height\", \"BIDSVersion\": \"1.8.0\", \"DatasetType\": \"derivative\"}\n", description);
    strncat(folder, "/group", sizeof folder - strlen(folder) - 1);
    if (mkdir(folder, 0755) != 0)
        fail(folder);
    FILE *results = open_below(folder, "results.tsv", "w");
    for (int column = 0; column < COLUMNS; column++) {
        const char *after = column < COLUMNS - 1 ? "\t" : "\n";
        if (means[column].people > 0)
            fprintf(results, "%.17g%s", means[column].sum / means[column].people, after);
        else
            fprintf(results, "n/a%s", after);
    }
    if (fclose(description) != 0 || fclose(results) != 0)
        fail(folder);
}

int main(int count, char **given)
{
    static struct mean means[COLUMNS];
    if (count != 4) {
        fprintf(stderr, "usage: app INPUT OUTPUT participant|group\n");
        return 2;
    }
    if (strcmp(given[3], "group") == 0) {
        read_people(given[1], means);
        write_results(given[2], means);
    }
    return 0;
}
