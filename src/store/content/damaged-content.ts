// The error of content whose stored bytes are not those that its SHA-256 names.

import { ProductError } from '../../base/errors.ts'

const SENTENCE = 'Content in blobs.db is missing or damaged. The operator has to restore a backup.'

/** It concerns the content alone: other messages are read as before. */
export class DamagedContent extends ProductError {
  /** The SHA-256 by which the content is stored. */
  readonly hash: Uint8Array
  readonly problem: string

  /** @param problem completes "Content … " */
  constructor(hash: Uint8Array, problem: string) {
    const cause = new Error(
      `Content ${Buffer.from(hash).toString('hex')} ${problem}: blobs.db is damaged or incomplete.`,
    )
    super('service_unavailable', SENTENCE, { cause })
    this.hash = hash
    this.problem = problem
  }
}

/** What was read, or `damaged`: a damaged message costs none of the others that are read with it. */
export async function orDamaged<T>(reading: Promise<T>): Promise<T | 'damaged'> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof DamagedContent) return 'damaged'
    throw error
  }
}
