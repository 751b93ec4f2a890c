// What we use of mailauth, part by part: its front door would also load what fetches and reads brand logos.

declare module 'mailauth/lib/dkim/dkim-verifier.js' {
  import type { ArcData, BodyHasher, KeyCache, Resolve, SignatureField, SignatureResult } from 'mailauth/parts'

  export class DkimVerifier {
    constructor(options: { resolver: Resolve; minBitLength: number; strict: boolean; curTime: Date })
    keyCache: KeyCache
    readonly arc: ArcData
    signatureHeaders: SignatureField[]
    results: SignatureResult[]
    /** By the key that addBodyHash gives. */
    readonly bodyHashes: Map<string, BodyHasher>
    emitHeaders(header: Uint8Array): Promise<void>
    prepareSignature(field: SignatureField): void
    /** @param limit the number of l=, "" without one */
    addBodyHash(form: string, algorithm: string, limit: number | ''): string
    finalChunk(): Promise<void>
  }
}

declare module 'mailauth/lib/arc/index.js' {
  import type { ArcData, Resolve, Status } from 'mailauth/parts'

  const arc: {
    arc(
      data: ArcData,
      options: { resolver: Resolve; minBitLength: number; strict: boolean },
    ): Promise<{ status: Status }>
    /** `headers` is empty when no set was created. */
    createSeal(
      input: Buffer,
      data: {
        seal: {
          signingDomain: string
          selector: string
          algorithm: string
          cv: string
          authResults: string
          privateKey: string | Buffer
          signTime: Date
          strict: boolean
        }
      },
    ): Promise<{ headers: string[]; errors: unknown[] }>
  }
  export default arc
}

declare module 'mailauth/lib/spf/index.js' {
  import type { Resolve, Status } from 'mailauth/parts'

  const spf: {
    spf(options: {
      sender: string
      ip: string
      helo: string
      mta: string
      resolver: Resolve
      maxResolveCount: number
      maxVoidCount: number
      strict: boolean
    }): Promise<{ domain: string; status: Status }>
  }
  export default spf
}

declare module 'mailauth/lib/dmarc/index.js' {
  import type { Resolve, Status } from 'mailauth/parts'

  const dmarc: {
    evaluateDmarc(options: {
      headerFrom: string[]
      fromFields: number
      spfDomains: string[]
      dkimDomains: { domain: string }[]
      resolver: Resolve
      strict: boolean
    }): Promise<{
      response: { status: Status; policy?: string; sp?: string; error?: string } | false
      dkimAligned?: Set<string>
    }>
  }
  export default dmarc
}

declare module 'mailauth/lib/tools.js' {
  import type { KeyCache, PublicKey, Resolve } from 'mailauth/parts'

  const tools: {
    getPublicKey(
      type: Parameters<KeyCache['get']>[0],
      name: string,
      minBitLength: number,
      resolver: Resolve,
      options: Parameters<KeyCache['get']>[3],
    ): Promise<PublicKey>
    toALabel(domain: string): string
    /** Relaxed alignment by the list of public suffixes. */
    getAlignment(fromDomain: string, domains: string[]): unknown
    formatDomain(domain: string): string
  }
  export default tools
}

declare module 'mailauth/parts' {
  export type Resolve = (name: string, type: string) => Promise<unknown[]>

  export interface Status {
    result: string
    comment?: string | boolean
    underSized?: number
    policy?: Record<string, string>
  }

  export interface SignatureField {
    type: 'DKIM' | 'ARC'
    parsed?: Record<string, { value?: unknown } | undefined>
    signingDomain: string
    selector: string
    hashAlgo: string
    skip?: string
    invalid?: string
  }

  export interface SignatureResult {
    signingDomain?: string
    selector?: string
    algo?: string
    status: Status
  }

  export interface BodyHasher {
    canonicalizedLength: number
    bodyHashedBytes: number
    digest(encoding: 'base64'): string
    setContentType(contentType: unknown): void
    getMimeStructureStart(): number | undefined
  }

  export interface PublicKey {
    /** PEM. */
    publicKey: string
    rr: string
    modulusLength?: number
    keyType: string
    flags: string[]
    testing: boolean
    warnings: string[]
  }

  export interface KeyCache {
    /** ARC takes the cache over from DKIM where it asks the same. */
    readonly resolver: Resolve
    /** The key as whatever node:crypto takes for one. */
    get(
      type: 'DKIM' | 'ARC' | 'AS',
      name: string,
      minBitLength: number,
      options: { strict: boolean; hashAlgo: string },
    ): Promise<unknown>
  }

  export interface ArcData {
    keyCache: KeyCache
    chain:
      | false
      | {
          i: number
          'arc-seal': { parsed?: Record<string, { value?: unknown } | undefined> }
          'arc-message-signature': SignatureField
        }[]
  }
}
