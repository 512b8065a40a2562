% A BIDS app: octave-cli app.m INPUT OUTPUT participant|group. Octave alone, no packages.
%
% participant: the three numbers of each person in INPUT, to OUTPUT/sub-XX/sub-XX_measures.tsv.
% group: the means over OUTPUT/sub-*, one row without a header, to OUTPUT/derivatives/group/results.tsv.

1;  % a script, not a function file

% Rows of a table as cells of text: `n/a` stays what it is. CR LF ends lines too.
function [header, rows] = read_table (path)
  lines = regexp (fileread (path), '\r?\n', 'split');
  lines = lines(! cellfun (@isempty, lines));
  cells = cellfun (@(line) regexp (line, '\t', 'split'), lines, 'UniformOutput', false);
  header = cells{1};
  rows = cells(2:end);
end

function write_text (path, text)
  file = fopen (path, 'w');
  if (file < 0)
    error ('cannot write %s', path);
  end
  fputs (file, text);
  fclose (file);
end

function run_participants (input, output, columns)
  [header, rows] = read_table (fullfile (input, 'participants.tsv'));
  [~, places] = ismember (columns, header);
  name_at = find (strcmp (header, 'participant_id'));
  for row = rows
    name = row{1}{name_at};
    mkdir (fullfile (output, name));
    text = [strjoin(columns, "\t") "\n" strjoin(row{1}(places), "\t") "\n"];
    write_text (fullfile (output, name, [name '_measures.tsv']), text);
  end
end

function run_group (output, columns)
  files = glob (fullfile (output, 'sub-*', '*_measures.tsv'));
  cells = cell (0, numel (columns));
  for place = 1:numel (files)
    [~, rows] = read_table (files{place});
    cells(place, :) = rows{1};
  end
  results = cell (1, numel (columns));
  for column = 1:numel (columns)
    results{column} = mean_of (cells(:, column));
  end
  folder = fullfile (output, 'derivatives', 'group');
  mkdir (folder);
  write_text (fullfile (folder, 'results.tsv'), [strjoin(results, "\t") "\n"]);
  description = struct ('Name', 'bids-means', 'BIDSVersion', '1.8.0', 'DatasetType', 'derivative');
  write_text (fullfile (output, 'dataset_description.json'), [jsonencode(description) "\n"]);
end

% Over the people who have a value; `n/a` where nobody has.
function text = mean_of (values)
  numbers = str2double (values(! strcmp (values, 'n/a')));
  if (isempty (numbers))
    text = 'n/a';
  else
    text = sprintf ('%.12g', mean (numbers));
  end
end

given = argv ();
columns = {'age', 'Height', 'Weight'};
if (strcmp (given{3}, 'participant'))
  run_participants (given{1}, given{2}, columns);
else
  run_group (given{2}, columns);
end
