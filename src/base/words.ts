// Normalises texts for substring searches by words, without regard to case.

/** Further words of a search are ignored. */
export const SEARCH_WORDS_MAX = 16
const SEARCH_TEXT_MAX = 2000

/** The searchable text of a record, limited in length. */
export function searchText(parts: readonly (string | null | undefined)[]): string {
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
