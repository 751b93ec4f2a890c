// What we use of mailauth, part by part: its front door would also load what fetches and reads brand logos.

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
  const tools: {
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
    'arc-message-signature': { original: Buffer }
    /** Set by the verifier. */
    messageSignature?: { status: { result: string } }
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
