// What a document of a message is made from, and what is known of it afterwards.

import type { Tracker } from './pictures.ts'
import type { Theme } from './styles.ts'
import type { ViewLink } from './view-links.ts'

/** Characters of HTML or text that are read, and of a message that is shown whole. */
export const VIEW_MAX = 2 * 1024 * 1024
export const VIEW_WHOLE_MAX = 10 * 1024 * 1024

/** How a message deals with colors: it sets none, has a dark style of its own, or is made for a light page. */
export const VIEW_THEMES = ['plain', 'aware', 'designed'] as const
export type ViewTheme = (typeof VIEW_THEMES)[number]

export interface ViewOptions {
  theme: Theme
  /** Remote pictures are named by their addresses at this server. */
  withPictures: boolean
  isQuoteOpen: boolean
  /** Up to VIEW_WHOLE_MAX characters. */
  isWhole: boolean
}

export interface ViewSource {
  text: string | null
  html: string | null
  /** The bodies are longer than what was read. */
  incomplete: boolean
  /** Attachments by Content-ID, without angle brackets. */
  files: ReadonlyMap<string, string>
}

export interface ViewFacts {
  kind: 'html' | 'text' | 'none'
  clipped: boolean
  theme: ViewTheme
  hasQuote: boolean
  /** Characters that a reader does not see. */
  hiddenChars: number
  pictures: { count: number; hosts: string[]; trackers: Tracker[] }
  links: ViewLink[]
}

export interface ViewDocument {
  html: string
  facts: ViewFacts
  /** Addresses of the remote pictures by number. */
  pictures: string[]
}
