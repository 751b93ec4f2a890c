// Whether HTTPS is proven, and the header that binds browsers to it (RFC 6797).

import { X509Certificate } from 'node:crypto'
import type { Context } from '../context.ts'

const YEAR = 'max-age=31536000'
/** Until a renewal has worked once: a certificate that cannot be renewed must not bind browsers for long. */
const DAY = 'max-age=86400'

/** Read again when a certificate changes. */
export class Hsts {
  readonly #app: Context
  readonly #unlisten: () => void
  #isProven = false
  #value: string | null = null

  constructor(app: Context) {
    this.#app = app
    this.#unlisten = app.notifier.listen('certificates', () => this.#read())
    app.certificate.onChange(() => this.#read())
    this.#read()
  }

  /** Whether a certificate of the host of APP_ORIGIN that others trust is served at HTTPS_PORT. */
  get isProven(): boolean {
    return this.#isProven
  }

  /** The value of Strict-Transport-Security; null while browsers must not be bound. */
  get value(): string | null {
    return this.#value
  }

  close(): void {
    this.#unlisten()
  }

  #read(): void {
    const { config, certificates } = this.#app
    const { hostname, protocol } = new URL(config.APP_ORIGIN)
    this.#isProven = config.HTTPS_PORT !== 0 && protocol === 'https:' && this.#isTrusted(hostname)
    // A proxy ends TLS, and has done so before this header was sent.
    if (config.HTTPS_PORT === 0) this.#value = YEAR
    else this.#value = this.#isProven ? (certificates.hasRenewed(hostname) ? YEAR : DAY) : null
  }

  #isTrusted(host: string): boolean {
    const { config, certificates, certificate } = this.#app
    if (config.ACME === 'on') return certificates.isProven(host)
    // The operator has provided it, and watches over it.
    return config.TLS_CERT_FILE !== '' && new X509Certificate(certificate.pair.cert).checkHost(host) !== undefined
  }
}
