// A headless browser: keeps cookies, follows redirects, fills in forms.

import assert from 'node:assert/strict'
import type { TestAppliance } from './appliance.ts'

export interface Page {
  status: number
  path: string
  headers: Headers
  text: string
}

export class Browser {
  readonly #origin: string
  readonly #headers: Record<string, string>
  cookie = ''

  constructor(appliance: Pick<TestAppliance, 'origin'>, headers: Record<string, string> = {}) {
    this.#origin = appliance.origin
    this.#headers = headers
  }

  get(path: string): Promise<Page> {
    return this.#go('GET', path)
  }

  post(path: string, members: Record<string, string>): Promise<Page> {
    return this.#go('POST', path, new URLSearchParams(members).toString())
  }

  /** Submits the form with this action, hidden members included. @param filled the values the person enters */
  submit(page: Page, action: string, filled: Record<string, string> = {}, index = 0): Promise<Page> {
    const forms = [...page.text.matchAll(/<form method="post" action="([^"]+)">([\s\S]*?)<\/form>/g)]
    const form = forms.filter(([, target]) => target === action)[index]
    assert.ok(form, `no form to ${action} on ${page.path}: ${page.text}`)
    const hidden = [...form[2]!.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)]
    return this.post(action, { ...Object.fromEntries(hidden.map(([, name, value]) => [name!, value!])), ...filled })
  }

  async #go(method: string, path: string, body?: string): Promise<Page> {
    const response = await fetch(this.#origin + path, {
      method,
      redirect: 'manual',
      body: body ?? null,
      headers: {
        ...this.#headers,
        ...(this.cookie === '' ? {} : { cookie: this.cookie }),
        ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      },
    })
    const set = response.headers.get('set-cookie')
    if (set !== null) this.cookie = set.includes('Max-Age=0') ? '' : set.split(';')[0]!
    const location = response.headers.get('location')
    const text = await response.text()
    if (response.status === 303 && location !== null) return this.#go('GET', location)
    return { status: response.status, path, headers: response.headers, text }
  }
}
