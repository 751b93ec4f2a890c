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

export interface Language<W> {
  direction: 'ltr' | 'rtl'
  load: () => Promise<{ words: W }>
}

/** By BCP 47 tag. `ar-XB` is the pseudo-locale of CLDR for tests: longer, marked, from right to left. */
const LANGUAGES: Readonly<Record<string, Language<Words>>> = {
  'ar-XB': { direction: 'rtl', load: () => import('./pseudo.ts') },
}

/** The language of a locale for the console. @see loadLanguageOf */
export const loadLanguage = (locale: string): Promise<string> =>
  loadLanguageOf(locale, LANGUAGES, async (words) => {
    const [{ replaceTexts }, sources] = await Promise.all([import('./replace.ts'), import('./en/all.ts')])
    replaceTexts({ ...sources }, words)
  })

/**
 * Loads the language of a locale, when it is there, and says it to the browser; English else.
 * @param locale BCP 47 tag @param put puts the words in the place of the English ones @returns the tag of the language
 */
export async function loadLanguageOf<W>(
  locale: string,
  languages: Readonly<Record<string, Language<W>>>,
  put: (words: W) => Promise<void>,
): Promise<string> {
  const tag = [locale, locale.split('-')[0]!].find((one) => one in languages)
  if (tag === undefined) return 'en'
  const { direction, load } = languages[tag]!
  await put((await load()).words)
  document.documentElement.lang = tag
  document.documentElement.dir = direction
  return tag
}
