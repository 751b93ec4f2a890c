// Debian's Chromium for tests of the pages: signed-in people, an authenticator without a person, and everything a page complains about.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import process from 'node:process'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { amount, inTurn } from './amount.ts'
import type { PersonClient } from './person.ts'

/** The same engine without the windows of a browser takes half the processor time for a new tab. */
const PROGRAM = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find(existsSync) ?? '/usr/bin/chromium'
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** A page that needs longer hangs, ms: on a machine with much other work one that only has to be drawn may take half of it. */
export const PATIENCE_MS = 120_000
/** WCAG 2.2 A and AA, and best practices: every rule, in light and on a phone, where other parts are visible. */
const EVERY_RULE = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
/** The rules that look at colours. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block']

/** Texts, but those being written, and spoken attributes of the page with characters that turn a text around, have no width or control something. */
const RAW_TEXTS = `(() => {
  const raw = /[\\0-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u061c\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff]/
  const nodes = document.evaluate('//text()[not(ancestor::*[@role="textbox"])] | //@title | //@aria-label | //@placeholder', document, null, 7, null)
  const texts = Array.from({ length: nodes.snapshotLength }, (_, n) => nodes.snapshotItem(n).nodeValue)
  return [document.title, ...texts].filter((text) => raw.test(text)).map((text) => JSON.stringify(text))
})()`

/** Why tests in a browser are left out; false when they run. Nothing is left out where everything has to be there. */
export function chromiumMissing(): string | false {
  if (existsSync(PROGRAM) || process.env.REQUIRE_INTEROP === '1') return false
  return `${PROGRAM} is not installed (Debian package chromium)`
}

/** @param env variables of the browser on top of those of this process @param args on top of those that are always needed */
export function launchChromium(env: Record<string, string> = {}, args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: PROGRAM,
    args: ['--no-sandbox', '--disable-gpu', ...args],
    timeout: PATIENCE_MS,
    env: { ...(process.env as Record<string, string>), ...env },
  })
}

export const VIEWS = {
  light: { colorScheme: 'light', viewport: { width: 1440, height: 900 } },
  dark: { colorScheme: 'dark', viewport: { width: 1440, height: 900 } },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 844 } },
} as const

export type ViewName = keyof typeof VIEWS

export const LOOKS: readonly ViewName[] = ['light', 'dark', 'phone']

/** Looks that are checked of a page, others of the next one. */
const LOOKS_CHECKED = 1
let turns = 0

/** Looks for a page. @param turn its number in a list */
export function someLooks(turn: number): readonly ViewName[] {
  return inTurn(LOOKS, LOOKS_CHECKED, turn)
}

/** States of a page in stories of which one is examined with axe by default: every page itself is examined in the walk of the pages. */
const STATES_PER_EXAMINATION = amount(3, 1)

/** Looks of the next state in a story. */
function looksOfState(): readonly ViewName[] {
  const turn = turns++
  return turn % STATES_PER_EXAMINATION === 0 ? someLooks(turn / STATES_PER_EXAMINATION) : []
}

/** One page of a browser of its own, with what it complained about. */
export class WebPage {
  readonly page: Page
  readonly #context: BrowserContext
  readonly #origin: string
  readonly #complaints: string[] = []

  private constructor(context: BrowserContext, page: Page, origin: string) {
    this.#context = context
    this.page = page
    this.#origin = origin
    // Of other pages beside it as well.
    context.setDefaultTimeout(PATIENCE_MS)
    page.on('pageerror', (error) => this.#complaints.push(`error: ${error.message}`))
    page.on('console', (message) => {
      if (message.type() === 'error') this.#complaints.push(`console: ${message.text()} ${message.location().url}`)
    })
  }

  /** @param person whose session the browser has; null without one */
  static async open(
    browser: Browser,
    origin: string,
    person: Pick<PersonClient, 'cookie'> | null,
    view: ViewName = 'light',
  ): Promise<WebPage> {
    const context = await browser.newContext({
      ...VIEWS[view],
      reducedMotion: 'reduce',
      locale: 'en-GB',
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    if (person !== null) {
      const [name, value] = person.cookie.split('=') as [string, string]
      await context.addCookies([{ name, value, url: origin }])
    }
    return new WebPage(context, await context.newPage(), origin)
  }

  /** Opens a path and waits until the page is drawn and nothing is being asked. */
  async goTo(path: string): Promise<void> {
    await this.page.goto(this.#origin + path)
    await this.isDrawn()
  }

  /** Waits for the title of the page and the end of its requests. */
  async isDrawn(): Promise<void> {
    await this.page.locator('#app[aria-busy="false"] h1').first().waitFor()
    // Several parts of a page may load at once.
    const loading = this.page.locator('[role="status"] .hidden-word', { hasText: 'Loading' })
    await loading.first().waitFor({ state: 'detached' })
  }

  /** Presses buttons and menu items one after the other; `row` opens the first row of the list. @param where named in the failure */
  async press(names: readonly string[], where: string): Promise<void> {
    for (const name of names) {
      const named = this.page.getByRole('button', { name }).or(this.page.getByRole('menuitem', { name }))
      const target = name === 'row' ? this.page.locator('.row-button') : named
      await target
        .first()
        .click()
        .catch((error: Error) => assert.fail(`${where}: ${name} cannot be pressed: ${error.message}`))
      await this.isDrawn()
    }
  }

  /** Shows the same page in another way. */
  async showAs(view: ViewName): Promise<void> {
    await this.page.emulateMedia({ colorScheme: VIEWS[view].colorScheme, reducedMotion: 'reduce' })
    await this.page.setViewportSize(VIEWS[view].viewport)
  }

  /** An authenticator with a person who always agrees: passkeys work without a device. */
  async addAuthenticator(): Promise<void> {
    const session = await this.#context.newCDPSession(this.page)
    await session.send('WebAuthn.enable')
    await session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
  }

  /**
   * Fails when axe finds anything, a text of strangers has no marks, or the page wrote an error or broke its own policy.
   * @param where named in the failure
   * @param within a selector of what is looked at; default: the whole page
   */
  async check(where: string, within?: string): Promise<void> {
    if (turns++ % STATES_PER_EXAMINATION === 0) await this.#examine(where, within, EVERY_RULE)
    await this.#hasSafeTexts(where)
  }

  /** @param rules of axe: tags or names */
  async #examine(where: string, within: string | undefined, rules: readonly string[]): Promise<void> {
    // Half a megabyte, once for each document.
    if (!(await this.page.evaluate('Boolean(globalThis.axe)'))) await this.page.evaluate(AXE)
    const context = within === undefined ? 'document' : JSON.stringify(within)
    const options = JSON.stringify({ runOnly: rules, resultTypes: ['violations'] })
    const found = (await this.page.evaluate(`axe.run(${context}, ${options})`)) as AxeResult
    const violations = found.violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)}\n    ${failureSummary}`),
    )
    assert.deepEqual(violations, [], `axe, ${where}`)
  }

  async #hasSafeTexts(where: string): Promise<void> {
    assert.deepEqual(await this.page.evaluate(RAW_TEXTS), [], `text of strangers without marks, ${where}`)
    this.hasNoComplaints(where)
  }

  /** The same in some looks; the page is light afterwards. */
  async checkLooks(where: string, looks: readonly ViewName[] = looksOfState(), within?: string): Promise<void> {
    // A page in dark has the parts, names and sizes of the same page in light.
    const isRest = (look: ViewName) => look === 'dark' && looks.includes('light')
    for (const look of looks) {
      await this.showAs(look)
      await this.#examine(`${where}, ${look}`, within, isRest(look) ? COLOUR_RULES : EVERY_RULE)
      await this.#hasSafeTexts(`${where}, ${look}`)
    }
    await this.#hasSafeTexts(where)
    await this.showAs('light')
  }

  hasNoComplaints(where: string): void {
    assert.deepEqual(this.#complaints, [], where)
  }

  /** Takes the complaints that a test expects. @returns how many there were */
  forgive(pattern: RegExp): number {
    const before = this.#complaints.length
    const kept = this.#complaints.filter((text) => !pattern.test(text))
    this.#complaints.splice(0, before, ...kept)
    return before - kept.length
  }

  async close(): Promise<void> {
    await this.#context.close()
  }
}

interface AxeResult {
  violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[]
}
