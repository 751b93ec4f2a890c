// The language of the pages: English is the source; another one is loaded and put in its place before the first page is drawn.

import type * as english from './en/all.ts'

/** The same texts and functions in another language. */
export type Translated<T> = T extends string
  ? string
  : T extends (...values: infer A) => infer R
    ? (...values: A) => Translated<R>
    : { readonly [K in keyof T]: Translated<T[K]> }

/** Everything that a language says: a file of another one exports this as `words`. */
export type Words = Translated<typeof english>

interface Language {
  direction: 'ltr' | 'rtl'
  load: () => Promise<{ words: Words }>
}

/** By BCP 47 tag. `ar-XB` is the pseudo-locale of CLDR for tests: longer, marked, from right to left. */
const LANGUAGES: Readonly<Record<string, Language>> = {
  'ar-XB': { direction: 'rtl', load: () => import('./pseudo.ts') },
}

/**
 * Loads the language of a locale, when it is there, and says it to the browser; English else.
 * @param locale BCP 47 tag @returns the tag of the language
 */
export async function loadLanguage(locale: string): Promise<string> {
  const tag = [locale, locale.split('-')[0]!].find((one) => one in LANGUAGES)
  if (tag === undefined) return 'en'
  const { direction, load } = LANGUAGES[tag]!
  const [{ words }, { replaceWords }] = await Promise.all([load(), import('./replace.ts')])
  replaceWords(words)
  document.documentElement.lang = tag
  document.documentElement.dir = direction
  return tag
}
