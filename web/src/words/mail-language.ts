// The languages of the mail pages: they have some that the console has not, and load their own texts alone.

import { type Language, loadLanguageOf, type Translated } from './language.ts'
import type * as english from './mail-texts.ts'

/** Everything that the mail pages say; the pseudo-locale has the texts of the console too. */
type MailWords = Translated<typeof english>

const LANGUAGES: Readonly<Record<string, Language<MailWords>>> = {
  de: { direction: 'ltr', load: () => import('./de/all.ts').then((words) => ({ words })) },
  'ar-XB': { direction: 'rtl', load: () => import('./pseudo.ts') },
}

/** @see loadLanguageOf */
export const loadMailLanguage = (locale: string): Promise<string> =>
  loadLanguageOf(locale, LANGUAGES, async (words) => {
    const [{ replaceTexts }, sources] = await Promise.all([import('./replace.ts'), import('./mail-texts.ts')])
    replaceTexts({ ...sources }, words)
  })
