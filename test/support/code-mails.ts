// Code mails for the extraction: layouts of test/vectors/codes with values that a seed decides.

import { readFileSync } from 'node:fs'

export interface CodeMail {
  language: string
  layout: string
  subject: string
  text: string | null
  html: string | null
  /** What a program may use: "code 123456", "reset https://…". */
  expected: string[]
}

type Random = () => number

/** Numbers from 0 to 1 that the seed decides (mulberry32). */
function seeded(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ'
const DIGITS = '0123456789'
const HOSTS = ['app.example', 'accounts.shop.example', 'links.mailer.example', 'login.bank.example']

/** @param fills mails of each layout */
export function codeMails(file: 'development' | 'frozen', fills: number): CodeMail[] {
  const text = readFileSync(new URL(`../vectors/codes/${file}.txt`, import.meta.url), 'utf8')
  const layouts = text.split(/^@@ /m).slice(1)
  return layouts.flatMap((layout, at) =>
    Array.from({ length: fills }, (_, fill) =>
      mailOf(layout, seeded(at * 1000 + fill + (file === 'frozen' ? 7e5 : 0))),
    ),
  )
}

function mailOf(layout: string, random: Random): CodeMail {
  const filler = new Filler(random)
  const [head = '', ...rest] = layout.split('\n')
  const [, language, html, title] = /^(\w\w) (html )?(.*)$/.exec(head)!
  const subject = filler.fill(title!)
  const body = filler.fill(rest.join('\n')).trimEnd()
  const isHtml = html !== undefined
  return {
    ...{ language: language!, layout: head, subject },
    text: isHtml ? null : body,
    html: isHtml ? body : null,
    expected: [...filler.expected],
  }
}

class Filler {
  readonly expected = new Set<string>()
  readonly #random: Random
  #last = ''

  constructor(random: Random) {
    this.#random = random
  }

  fill(text: string): string {
    return text.replace(/\{([^}]+)\}/g, (_, mark: string) => this.#value(mark))
  }

  #value(mark: string): string {
    if (mark.startsWith('L ')) return this.#link(mark.slice(2))
    if (mark === 'U') return this.#url('u')
    if (mark.endsWith('=')) return this.#last
    if (mark.startsWith('N')) return this.#of(DIGITS, Number(mark.slice(1)))
    if (mark.startsWith('A')) return this.#mixed(Number(mark.slice(1)))
    return this.#code(mark.slice(1))
  }

  #code(form: string): string {
    const isMixed = form.startsWith('A')
    const [first = 0, second = 0] = form.replace('A', '').split(/[ -]/).map(Number)
    const separator = /[ -]/.exec(form)?.[0] ?? ''
    const one = isMixed ? this.#mixed(first) : this.#of(DIGITS, first)
    const two = second === 0 ? '' : isMixed ? this.#mixed(second) : this.#of(DIGITS, second)
    this.#last = one + separator + two
    this.expected.add(`code ${isMixed ? this.#last : one + two}`)
    return this.#last
  }

  #link(kind: string): string {
    const url = this.#url(kind)
    this.expected.add(`${kind} ${url}`)
    return url
  }

  #url(path: string): string {
    const host = HOSTS[Math.floor(this.#random() * HOSTS.length)]!
    const token = this.#of(`${LETTERS}${LETTERS.toLowerCase()}${DIGITS}`, 32)
    return this.#random() < 0.5 ? `https://${host}/${path}/${token}` : `https://${host}/${path}?t=${token}`
  }

  #of(letters: string, length: number): string {
    return Array.from({ length }, () => letters[Math.floor(this.#random() * letters.length)]!).join('')
  }

  /** Letters and digits, a digit at least. */
  #mixed(length: number): string {
    const at = Math.floor(this.#random() * length)
    return [...this.#of(LETTERS + DIGITS, length)].map((letter, index) => (index === at ? '7' : letter)).join('')
  }
}
