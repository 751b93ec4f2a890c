// The certificates of all listeners: read again when they change, without a restart; and the channel bindings of connections.

import { constants, createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls'
import type { Clock, Timer } from '../base/clock.ts'
import { HOUR_MS } from '../base/durations.ts'
import type { Service } from '../base/lifecycle.ts'
import type { Log } from '../base/log.ts'
import type { CertificatePair } from '../config/certificate.ts'

/** Oldest version of TLS that is accepted (RFC 8997). */
export const TLS_MIN = 'TLSv1.2'
/** Time a client may take for the TLS handshake in ms. */
export const HANDSHAKE_MS = 30_000
const LOOK_MS = HOUR_MS

/** Those that listeners serve. */
export interface ServerPairs {
  /** For every connection without a name, and of the mail listeners. */
  pair: CertificatePair
  /** For HTTPS, by the name that the client asks for. */
  byName: ReadonlyMap<string, CertificatePair>
}

interface Deps extends ServerPairs {
  /** Reads them again. @throws an error whose message says what is wrong with the files */
  read(): Promise<ServerPairs>
  clock: Clock
  log: Log
}

/** Holds the certificate that new connections get. Connections that are open keep theirs. */
export class ServerCertificate implements Service {
  readonly name = 'certificate'
  readonly #deps: Deps
  readonly #listeners = new Set<(pair: CertificatePair) => void>()
  #pair: CertificatePair
  #byName: ReadonlyMap<string, CertificatePair>
  readonly #contexts = new Map<CertificatePair, SecureContext>()
  #context: SecureContext | undefined
  #looking: Promise<void> | null = null
  #timer: Timer | undefined
  readonly #onSignal = () => void this.look()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#pair = deps.pair
    this.#byName = deps.byName
  }

  /** The current certificate and key, PEM. */
  get pair(): CertificatePair {
    return this.#pair
  }

  /** For a new connection; built with the first. */
  get context(): SecureContext {
    this.#context ??= contextOf(this.#pair)
    return this.#context
  }

  /** The pair of a name; that of all other connections where it has none of its own. */
  pairFor(name: string): CertificatePair {
    return this.#byName.get(name) ?? this.#pair
  }

  /** For a new connection that asks for this name. */
  contextFor(name: string): SecureContext {
    const pair = this.pairFor(name)
    const known = this.#contexts.get(pair) ?? contextOf(pair)
    this.#contexts.set(pair, known)
    return known
  }

  /** Calls `listener` with each new certificate, for libraries that hold a context of their own. */
  onChange(listener: (pair: CertificatePair) => void): void {
    this.#listeners.add(listener)
  }

  /** From here on the files are looked at every hour and on SIGHUP. */
  async start(): Promise<void> {
    this.#timer = this.#deps.clock.every(LOOK_MS, this.#onSignal)
    process.on('SIGHUP', this.#onSignal)
  }

  async stop(): Promise<void> {
    this.#timer?.cancel()
    process.off('SIGHUP', this.#onSignal)
    await this.#looking
  }

  /** Reads the files, and takes what they hold when it differs and is usable. Never throws: the old certificate stays. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  async #look(): Promise<void> {
    const { log } = this.#deps
    try {
      if (!(await this.#reload())) return
    } catch (error) {
      // A renewal writes two files one after the other: between them they do not match.
      log.warn({ event: 'tls.certificate_not_reloaded', err: error }, 'The TLS files cannot be used; the old ones stay')
      return
    }
    log.info({ event: 'tls.certificate_reloaded' }, 'New TLS certificate in use')
    for (const listener of this.#listeners) {
      try {
        listener(this.#pair)
      } catch (error) {
        log.error({ event: 'tls.listener_failed', err: error }, 'A listener did not take the new TLS certificate')
      }
    }
  }

  /** @returns false when the files hold the certificate in use. @throws an error when they cannot be used */
  async #reload(): Promise<boolean> {
    const { pair, byName } = await this.#deps.read()
    const isSame = isEqual(pair, this.#pair)
    if (isSame && hasEqualNames(byName, this.#byName)) return false
    // Made first: what cannot be used is not taken.
    for (const each of byName.values()) contextOf(each)
    if (!isSame) {
      this.#context = contextOf(pair)
      this.#pair = pair
    }
    this.#byName = byName
    this.#contexts.clear()
    return true
  }

  /**
   * Starts TLS on an accepted connection: at once (implicit TLS), or after the reply to STARTTLS. Without session tickets: a session that
   * ended is not resumed. ALPN is accepted when the client offers one of `alpn`, and ignored otherwise.
   * @throws Error when the handshake fails, the connection is closed, or HANDSHAKE_MS have passed; the socket is then destroyed
   */
  secure(socket: Socket, { clock, alpn = [] }: { clock: Clock; alpn?: readonly string[] }): Promise<TLSSocket> {
    return new Promise((resolve, reject) => {
      const secured = new TLSSocket(socket, {
        isServer: true,
        secureContext: this.context,
        ...(alpn.length === 0
          ? {}
          : { ALPNCallback: ({ protocols }) => protocols.find((offered) => alpn.includes(offered)) }),
      })
      const timer = clock.after(HANDSHAKE_MS, () => secured.destroy(new Error('The TLS handshake took too long.')))
      const failed = (error?: Error) => {
        timer.cancel()
        secured.destroy()
        reject(error ?? new Error('The connection was closed during the TLS handshake.'))
      }
      const closed = () => failed()
      // Stays, so that an error after the handshake never ends the process; the protocol adds its own listener.
      secured.on('error', failed)
      secured.once('close', closed)
      secured.once('secure', () => {
        timer.cancel()
        secured.off('close', closed)
        resolve(secured)
      })
    })
  }
}

function isEqual(one: CertificatePair, other: CertificatePair | undefined): boolean {
  return one.cert === other?.cert && one.key === other.key
}

function hasEqualNames(
  one: ReadonlyMap<string, CertificatePair>,
  other: ReadonlyMap<string, CertificatePair>,
): boolean {
  return one.size === other.size && [...one].every(([name, pair]) => isEqual(pair, other.get(name)))
}

function contextOf({ cert, key }: CertificatePair): SecureContext {
  return createSecureContext({ cert, key, minVersion: TLS_MIN, secureOptions: constants.SSL_OP_NO_TICKET })
}

/** Label and length of `tls-exporter` (RFC 9266 §2). */
const EXPORTER = { label: 'EXPORTER-Channel-Binding', bytes: 32 }

/**
 * The channel bindings of a connection whose TLS ends here: `tls-exporter` (RFC 9266, TLS 1.3 only) and `tls-server-end-point`
 * (RFC 5929 §4), where the certificate defines one.
 */
export function channelBindings(socket: TLSSocket): ReadonlyMap<string, Uint8Array> {
  const bindings = new Map<string, Uint8Array>()
  if (socket.getProtocol() === 'TLSv1.3') {
    bindings.set('tls-exporter', socket.exportKeyingMaterial(EXPORTER.bytes, EXPORTER.label, Buffer.alloc(0)))
  }
  const certificate = socket.getX509Certificate()
  const hash = certificate && endPointHash(certificate.signatureAlgorithm ?? '')
  if (certificate && hash) bindings.set('tls-server-end-point', createHash(hash).update(certificate.raw).digest())
  return bindings
}

/** RFC 5929 §4.1: the hash of the certificate's signature, SHA-256 for MD5 and SHA-1; null for one without (Ed25519) or with parameters (PSS). */
function endPointHash(algorithm: string): string | null {
  const [name] = /md5|sha(?:224|256|384|512|1)/.exec(algorithm.toLowerCase()) ?? []
  if (name === undefined) return null
  return name === 'md5' || name === 'sha1' ? 'sha256' : name
}
