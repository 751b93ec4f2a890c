// Words of saving a list as comma-separated values.

export const saveCsv = {
  button: 'Save as CSV',
  title: 'Save these rows as CSV?',
  text: (most: string) =>
    `The rows that the filters show, newest first, at most ${most}. Columns are named as in the API.`,
  save: 'Save',
  cancel: 'Cancel',
  close: 'Close',
  row: 'row',
  rows: 'rows',
  progress: (rows: string) => `${rows} read…`,
  saved: (rows: string) => `${rows} saved.`,
  savedPart: (rows: string) => `The first ${rows} rows are saved. Narrow the filters to get the others.`,
}
