// Texts made comparable for searches by words: a word is found wherever it occurs, in whatever case.

/** Words of a search beyond these are passed over. */
export const SEARCH_WORDS_MAX = 16
const SEARCH_TEXT_MAX = 2000

/** What is kept of a record to be searched, bounded. */
export function searchText(parts: readonly (string | null)[]): string {
  return fold(parts.join('\n')).slice(0, SEARCH_TEXT_MAX)
}

/** The words of a search, as they occur in a {@link searchText}. */
export function searchWords(search: string): string[] {
  return fold(search)
    .split(/\s+/)
    .filter((word) => word !== '')
    .slice(0, SEARCH_WORDS_MAX)
}

function fold(text: string): string {
  return text.normalize('NFC').toLowerCase()
}
