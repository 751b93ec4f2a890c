// Makes the spam models of mailboxes and teams from the labels that people have given.

import type { Clock } from '../../base/clock.ts'
import { DAY_MS } from '../../base/durations.ts'
import type { Vault } from '../../base/secrets.ts'
import type { Db, Tx } from '../../db/db.ts'
import { readHeaders } from '../../mime/headers.ts'
import { parseMessage } from '../../mime/parse.ts'
import { factNames, pointsOfFacts } from '../../spam/catalog.ts'
import { factFeatures, meanOf, packSlots, slotsOf, trainedOn, unpackSlots } from '../../spam/learned-model.ts'
import { readMaterial } from '../../spam/material.ts'
import { examineContent, POINT_LOG_ODDS } from '../../spam/score.ts'
import { startModel } from '../../spam/start-model.ts'
import type { Blobs } from '../content/blobs.ts'
import {
  accountsToLearn,
  allLabels,
  clearDue,
  countLabels,
  dropOldLabels,
  type LabelCount,
  labelKept,
  labelsToRead,
  labelsToTeach,
  learnableLabels,
  putFeatures,
  removeLabels,
  type SpamLabel,
  setDue,
  setOutdatedDue,
  setTaught,
} from '../messages/spam-labels.ts'
import type { Accounts } from '../rows/accounts.ts'
import type { Account } from '../rows/records.ts'
import type { SpamModelRow, SpamModels } from './spam-models.ts'

/** Mailboxes that are learned in one run of the job. */
const ACCOUNTS_PER_RUN = 100
/** Messages that another filter is taught in one run of the job. */
const TAUGHT_PER_RUN = 100
/** Contents read in one step; their features are stored together. */
const READ_AT_ONCE = 20
/** The beginning of a message that is read; words and links stand there. */
const READ_BYTES_MAX = 1024 * 1024
/** Good messages that are learned for comparison where fewer were labeled than spam: those that were read and kept. */
const KEPT_MAX = 200
/** How long a message has been kept before it counts as such. */
const KEPT_FOR_MS = DAY_MS

interface Deps {
  db: Db
  clock: Clock
  vault: Vault
  blobs: Blobs
  accounts: Accounts
  models: SpamModels
}

/** What a mailbox has said, and what was made of it. */
export interface SpamState {
  labels: LabelCount[]
  mailbox: SpamModelRow | null
  team: SpamModelRow | null
}

/** The key of this appliance for the slots of models, 32 bits. */
export function spamKey(vault: Vault): number {
  return vault.mac('spam slots', '').readUInt32LE(0)
}

export class SpamLearning {
  readonly key: number
  readonly #deps: Deps
  /** Labels of earlier versions of the program were looked for. */
  #isCurrent = false

  constructor(deps: Deps) {
    this.#deps = deps
    this.key = spamKey(deps.vault)
  }

  /** Learns the labels of mailboxes whose labels have changed. @param teamOf the team of a mailbox @returns how many mailboxes */
  async run(teamOf: (mailboxId: string) => string | undefined, signal: AbortSignal): Promise<number> {
    const { db, accounts } = this.#deps
    if (!this.#isCurrent) await db.write(setOutdatedDue)
    this.#isCurrent = true
    const numbers = accountsToLearn(db.read, ACCOUNTS_PER_RUN)
    const teams = new Set<string>()
    for (const n of numbers) {
      if (signal.aborted) break
      const account = accounts.byNumber(n)
      const teamId = account && teamOf(account.mailboxId)
      if (account === undefined || teamId === undefined) await db.write((tx) => clearDue(tx, n))
      else {
        await this.#learn(account, teamId, signal)
        teams.add(teamId)
      }
    }
    for (const teamId of new Set([...teams, ...this.#deps.models.teamsToJoin()])) await this.#joinTeam(teamId)
    return numbers.length
  }

  /**
   * Teaches another filter the labels of people that it does not know yet.
   * @returns how many messages it was shown
   * @throws Error of `teach`: the rest is taught with the next run
   */
  async teach(teach: (content: Uint8Array, isSpam: boolean) => Promise<void>, signal: AbortSignal): Promise<number> {
    const { db } = this.#deps
    const labels = labelsToTeach(db.read, TAUGHT_PER_RUN)
    let shown = 0
    for (const label of labels) {
      if (signal.aborted) break
      const bytes = await this.#contentOf(label).catch(() => null)
      if (bytes !== null && bytes.length > 0) {
        await teach(bytes, label.isSpam)
        shown++
      }
      await db.write((tx) => setTaught(tx, label))
    }
    return shown
  }

  #contentOf({ content }: SpamLabel): Promise<Uint8Array> {
    const { blobs } = this.#deps
    return blobs.bytes(content, 0, Math.min(blobs.size(content) ?? 0, READ_BYTES_MAX))
  }

  state(account: Account, teamId: string): SpamState {
    const { db, models } = this.#deps
    const [mailbox, team] = [account.mailboxId, teamId].map((owner) => models.row(owner) ?? null)
    return { labels: countLabels(db.read, [account.n]), mailbox: mailbox!, team: team! }
  }

  /** What several mailboxes have said. */
  labelCounts(mailboxIds: Iterable<string>): LabelCount[] {
    const { db, accounts } = this.#deps
    const numbers = [...accounts.byMailboxes(new Set(mailboxIds), db.read).values()].map(({ n }) => n)
    return countLabels(db.read, numbers)
  }

  labels(account: Account): SpamLabel[] {
    return allLabels(this.#deps.db.read, account.n)
  }

  /** Learns everything again with the next run of the job. @returns how many messages of Junk and of other folders were labeled */
  retrain(account: Account): Promise<{ spam: number; ham: number }> {
    const { db, clock } = this.#deps
    const range = { now: clock.now(), before: clock.now() - KEPT_FOR_MS, limit: KEPT_MAX }
    return db.write((tx) => {
      const spam = labelKept(tx, account.n, { ...range, isSpam: true })
      const ham = labelKept(tx, account.n, { ...range, isSpam: false })
      setDue(tx, account.n)
      return { spam, ham }
    })
  }

  /** Forgets all labels and the model of a mailbox; the next run of the job makes that of its team without them. */
  async reset(account: Account): Promise<void> {
    const { db, models } = this.#deps
    await db.writeFreeing((tx) => {
      removeLabels(tx, account.n)
      models.remove(tx, account.mailboxId)
    })
  }

  async #learn(account: Account, teamId: string, signal: AbortSignal): Promise<void> {
    const { db, clock, models } = this.#deps
    await db.write((tx) => {
      dropOldLabels(tx, account.n)
      this.#addKept(tx, account.n)
    })
    await this.#readContents(account.n, signal)
    if (signal.aborted) return
    await db.write((tx) => {
      clearDue(tx, account.n)
      const labels = learnableLabels(tx, account.n)
      if (labels.length === 0) return models.remove(tx, account.mailboxId)
      const examples = labels.map(({ isSpam, prior, features }) => ({
        slots: unpackSlots(features!),
        isSpam,
        prior: prior ?? 0,
      }))
      const spam = labels.filter(({ isSpam }) => isSpam).length
      const row = { owner: account.mailboxId, teamId, ham: labels.length - spam, spam, trainedAt: clock.now() }
      return models.put(tx, row, trainedOn(examples))
    })
  }

  /** Without good messages to compare with, whatever spam and good mail have in common would count as spam. */
  #addKept(tx: Tx, account: number): void {
    const countOf = (isSpam: boolean) =>
      countLabels(tx, [account]).reduce((sum, label) => sum + (label.isSpam === isSpam ? label.count : 0), 0)
    const limit = Math.min(countOf(true) - countOf(false), KEPT_MAX)
    const now = this.#deps.clock.now()
    if (limit > 0) labelKept(tx, account, { isSpam: false, now, before: now - KEPT_FOR_MS, limit })
  }

  async #readContents(account: number, signal: AbortSignal): Promise<void> {
    const { db } = this.#deps
    for (;;) {
      const labels = labelsToRead(db.read, account, READ_AT_ONCE)
      if (labels.length === 0 || signal.aborted) return
      const read: { n: number; features: Uint8Array; prior: number }[] = []
      for (const label of labels) read.push({ n: label.n, ...(await this.#featuresOf(label)) })
      await db.write((tx) => {
        for (const { n, features, prior } of read) putFeatures(tx, n, features, prior)
      })
    }
  }

  async #featuresOf(label: SpamLabel): Promise<{ features: Uint8Array; prior: number }> {
    const { facts } = label
    try {
      const bytes = await this.#contentOf(label)
      if (bytes.length === 0) return UNREADABLE
      const message = parseMessage(bytes)
      const { fields } = readHeaders(bytes)
      const options = { isList: false, fields, key: this.key }
      const { slots, logOdds } = examineContent(readMaterial(bytes, message), options, startModel())
      const all = [...slots, ...slotsOf([factFeatures(factNames(facts))], this.key)]
      return { features: packSlots(all), prior: logOdds + pointsOfFacts(facts) * POINT_LOG_ODDS }
    } catch {
      // Deleted or damaged meanwhile: there is nothing to learn, and the label stays for the history of its sender.
      return UNREADABLE
    }
  }

  /** The model of a team is the mean of those of its mailboxes. */
  async #joinTeam(teamId: string): Promise<void> {
    const { db, clock, models } = this.#deps
    await db.write((tx) => {
      const members = models.ofTeam(tx, teamId)
      // That of a single mailbox would count twice.
      if (members.length < 2) return models.removeTeam(tx, teamId)
      const countOf = (kind: 'ham' | 'spam') => members.reduce((sum, { row }) => sum + row[kind], 0)
      const row = { owner: teamId, teamId: null, ham: countOf('ham'), spam: countOf('spam'), trainedAt: clock.now() }
      return models.put(tx, row, meanOf(members.map(({ model }) => model)))
    })
  }
}

const UNREADABLE = { features: new Uint8Array(0), prior: 0 }
