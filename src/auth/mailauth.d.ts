// What we use of mailauth, part by part: its front door would also load what fetches and reads brand logos.

declare module 'mailauth/lib/dkim/dkim-verifier.js' {
  import type { SignatureField } from 'mailauth/parts'

  export class DkimVerifier {
    constructor(options: { strict: boolean })
    /** Reads the tags of a signature and checks their syntax: sets `skip` or `invalid` when it is wrong. */
    prepareSignature(field: SignatureField): void
  }
}

declare module 'mailauth/lib/arc/index.js' {
  import type { ArcData, Resolve, Status } from 'mailauth/parts'

  const arc: {
    /** Collects the sets of ARC fields. @throws Error for a chain that is not valid */
    getARChain(
      headers: { parsed: readonly { key: string | null; line: Buffer }[] },
      options: { strict: boolean },
    ): ArcData['chain']
    arc(
      data: ArcData,
      options: { resolver: Resolve; minBitLength: number; strict: boolean },
    ): Promise<{ status: Status }>
    /** `headers` is empty when no set was created. */
    createSeal(
      input: false,
      data: {
        headers: { parsed: readonly { key: string | null; casedKey: string; line: Buffer }[] }
        /** What `cv=pass` seals. */
        arc: { chain: ArcData['chain'] }
        seal: {
          /** Of the relaxed body, by SHA-256. */
          bodyHash: string
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
  import type { KeyCache, PublicKey, Resolve, SignatureField } from 'mailauth/parts'

  const tools: {
    getPublicKey(
      type: Parameters<KeyCache['get']>[0],
      name: string,
      minBitLength: number,
      resolver: Resolve,
      options: Parameters<KeyCache['get']>[3],
    ): Promise<PublicKey>
    /** The tags of a field, by name as written with `strict`. */
    parseDkimHeaders(
      line: Buffer,
      options: { strict: boolean },
    ): { parsed: SignatureField['parsed']; original: Buffer; tags?: object[]; syntaxErrors?: string[] }
    /** What is said of a key record that cannot be used, by code of the error. */
    KEY_ERROR_COMMENTS: ReadonlyMap<string, string>
    /** Lower case, A-labels, without a final dot. */
    normalizeDomainName(domain: string): string
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
    /** The identity that SPF checked. */
    smtp?: { mailfrom?: string }
  }

  /** A signature: `parsed`, `original` and `type` are given, `prepareSignature` adds the rest. */
  export interface SignatureField {
    type: 'DKIM' | 'ARC'
    parsed?: Record<string, { value?: unknown } | undefined>
    original: Buffer
    signingDomain: string
    selector: string
    signAlgo: string
    hashAlgo: string
    headerCanon: 'simple' | 'relaxed'
    bodyCanon: 'simple' | 'relaxed'
    /** The number of l=, "" without one. */
    maxBodyLength: number | ''
    /** The domain of i=, when there is one. */
    identityDomain?: string
    /** Of x=. */
    expiration: Date | null
    /** Why it is not read. */
    skip?: string
    /** Why it is not valid, whatever its key is. */
    invalid?: string
  }

  export interface SignatureResult {
    signingDomain: string
    selector: string
    algo?: unknown
    status: Status
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

  export interface ArcSet {
    i: number
    'arc-authentication-results': { original: Buffer }
    'arc-seal': { original: Buffer; parsed?: Record<string, { value?: unknown } | undefined> }
    'arc-message-signature': SignatureField
    /** Set by the verifier. */
    messageSignature?: SignatureResult
  }

  export interface ArcData {
    keyCache: KeyCache
    chain: false | ArcSet[]
    /** The newest set. */
    lastEntry?: ArcSet
    /** Why there is no chain although there are fields of one. */
    error?: unknown
  }
}
