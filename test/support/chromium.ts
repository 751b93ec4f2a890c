// Debian's Chromium for tests of the pages: signed-in people, an authenticator without a person, and everything a page complains about.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import process from 'node:process'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import type { PersonClient } from './person.ts'

const PROGRAM = '/usr/bin/chromium'
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** A page that needs longer hangs. */
const PATIENCE_MS = 10_000
/** WCAG 2.2 A and AA, and best practices. */
const ALL_RULES: AxeRules = {
  type: 'tag',
  values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
}
/** What only another theme can change. */
export const COLOUR_RULES: AxeRules = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }
/** What only another layout can change: sizes, order, what is hidden. */
export const LAYOUT_RULES: AxeRules = {
  type: 'rule',
  values: [
    ...[
      'target-size',
      'color-contrast',
      'scrollable-region-focusable',
      'region',
      'heading-order',
      'page-has-heading-one',
    ],
    ...['button-name', 'link-name', 'label', 'empty-table-header', 'landmark-one-main', 'aria-hidden-focus'],
    ...['label-content-name-mismatch', 'nested-interactive', 'meta-viewport'],
  ],
}

/** Why tests in a browser are left out; false when they run. Nothing is left out where everything has to be there. */
export function chromiumMissing(): string | false {
  if (existsSync(PROGRAM) || process.env.REQUIRE_INTEROP === '1') return false
  return `${PROGRAM} is not installed (Debian package chromium)`
}

export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: PROGRAM, args: ['--no-sandbox', '--disable-gpu'] })
}

export const VIEWS = {
  light: { colorScheme: 'light', viewport: { width: 1440, height: 900 } },
  dark: { colorScheme: 'dark', viewport: { width: 1440, height: 900 } },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 844 } },
} as const

export type ViewName = keyof typeof VIEWS

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
    page.setDefaultTimeout(PATIENCE_MS)
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
    await this.page.locator('[role="status"] .hidden-word', { hasText: 'Loading' }).waitFor({ state: 'detached' })
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

  /** Fails when axe finds anything, or the page wrote an error or broke its own policy. @param where named in the failure */
  async check(where: string, rules: AxeRules = ALL_RULES): Promise<void> {
    await this.page.evaluate(`if (!globalThis.axe) { ${AXE} }`)
    const options = JSON.stringify({ runOnly: rules, resultTypes: ['violations'] })
    const found = (await this.page.evaluate(`axe.run(document, ${options})`)) as AxeResult
    const violations = found.violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)}\n    ${failureSummary}`),
    )
    assert.deepEqual(violations, [], `axe, ${where}`)
    this.hasNoComplaints(where)
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

interface AxeRules {
  type: 'tag' | 'rule'
  values: string[]
}

interface AxeResult {
  violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[]
}
