// One message that is being written: saved a moment after each pause, one request at a time, and sent once.

import { signal } from '@preact/signals'
import {
  cancelSubmission,
  createDraft,
  deleteDraft,
  readDraft,
  replaceDraft,
  sendDraft,
  type Tagged,
} from '../../api/drafts.ts'
import { type ApiError, toApiError } from '../../api/errors.ts'
import type { Draft, DraftInput, DraftSummary } from '../../api/types.ts'
import { isAddress, type TypedAddress } from '../../base/address-list.ts'
import type { MailboxData } from '../../sync/mailbox.ts'

const SAVE_AFTER_MS = 2000

type Attachments = NonNullable<DraftInput['attachments']>
type People = TypedAddress[]

/** What a person writes, but the text: the editor has it. */
export interface Fields {
  identityId: string | null
  to: People
  cc: People
  bcc: People
  subject: string
  attachments: (Attachments[number] & { size_bytes?: number | null })[]
  quote: DraftInput['quote']
  forward: DraftInput['forward']
}

export type SaveState =
  | { kind: 'clean' | 'changed' | 'saving' | 'conflict' }
  | { kind: 'saved'; at: string }
  | { kind: 'failed'; error: ApiError }

const EMPTY: Fields = {
  ...{ identityId: null, to: [], cc: [], bcc: [], subject: '', attachments: [], quote: null, forward: null },
}

const fieldsOf = (draft: DraftSummary): Fields => ({
  identityId: draft.identity_id,
  to: draft.to,
  cc: draft.cc,
  bcc: draft.bcc ?? [],
  subject: draft.subject,
  attachments: draft.attachments,
  quote: draft.quote,
  forward: draft.forward,
})

export class DraftWriter {
  readonly data: MailboxData
  readonly fields = signal<Fields>(EMPTY)
  readonly state = signal<SaveState>({ kind: 'clean' })
  readonly undoSeconds: number
  /** What the editor begins with. */
  readonly html: string
  /** The text as it is now. */
  htmlNow: () => string
  #draft: Tagged<DraftSummary> | null
  #timer: ReturnType<typeof setTimeout> | undefined
  #saving: Promise<void> = Promise.resolve()
  #isDirty = false
  #html = ''
  /** When it is to be sent; null: at once. */
  #sendAt: string | null = null

  constructor(
    data: MailboxData,
    undoSeconds: number,
    draft: Tagged<Draft | DraftSummary> | null,
    fields?: Partial<Fields>,
  ) {
    this.data = data
    this.undoSeconds = undoSeconds
    this.#draft = draft
    this.fields.value = { ...(draft === null ? EMPTY : fieldsOf(draft.value)), ...fields }
    this.html = draft !== null && 'html_body' in draft.value ? htmlOf(draft.value) : ''
    this.htmlNow = () => this.html
  }

  change(part: Partial<Fields>): void {
    this.fields.value = { ...this.fields.peek(), ...part }
    this.changed()
  }

  /** The editor is there, with the text as it writes it. */
  begin(htmlNow: () => string): void {
    this.htmlNow = htmlNow
    this.#html = htmlNow()
  }

  /** The editor also reports what it does to its own text. */
  textChanged(): void {
    const html = this.htmlNow()
    if (html === this.#html) return
    this.#html = html
    this.changed()
  }

  /** Saves after a pause. */
  changed(): void {
    this.#isDirty = true
    if (this.state.peek().kind !== 'conflict') this.state.value = { kind: 'changed' }
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.save().catch(() => null), SAVE_AFTER_MS)
  }

  /** Saves what was not saved. @throws ApiError */
  save(): Promise<void> {
    clearTimeout(this.#timer)
    const saving = this.#saving.catch(() => null).then(() => this.#save())
    this.#saving = saving
    return saving
  }

  async #save(): Promise<void> {
    if (!this.#isDirty) return
    this.#isDirty = false
    this.state.value = { kind: 'saving' }
    try {
      this.#draft = await this.#write(this.#input())
      this.state.value = { kind: 'saved', at: this.#draft.value.updated_at }
    } catch (thrown) {
      this.#isDirty = true
      const error = toApiError(thrown)
      this.state.value = error.status === 409 ? { kind: 'conflict' } : { kind: 'failed', error }
      throw error
    }
  }

  async #write(input: DraftInput): Promise<Tagged<DraftSummary>> {
    if (this.#draft === null) return createDraft(this.data.api, input)
    const { value, tag } = this.#draft
    try {
      return await replaceDraft(this.data.api, value.id, tag, input)
    } catch (error) {
      // Another program deleted it: what was typed becomes a draft of its own.
      if (toApiError(error).status !== 404) throw error
      return createDraft(this.data.api, input)
    }
  }

  #input(): DraftInput {
    const { identityId, attachments, ...fields } = this.fields.peek()
    const files = attachments.map(({ blob_id, filename, type, disposition, content_id }) => ({
      ...{ blob_id, filename, type, disposition, content_id },
    }))
    // The server keeps addresses alone: what is none yet stays in the window.
    const valid = (people: People) => people.filter(({ email }) => isAddress(email))
    return {
      ...fields,
      to: valid(fields.to),
      cc: valid(fields.cc),
      bcc: valid(fields.bcc),
      identity_id: identityId,
      html_body: this.htmlNow(),
      attachments: files,
      in_reply_to_message_id: this.#draft?.value.in_reply_to_message_id ?? null,
      // What waits for its time can be taken back until then.
      undo_seconds: this.#sendAt === null ? this.undoSeconds : 0,
      send_at: this.#sendAt,
    }
  }

  /** After a conflict: what is written here replaces the other version. @throws ApiError */
  async keepThis(): Promise<void> {
    if (this.#draft !== null) this.#draft = await readDraft(this.data.api, this.#draft.value.id)
    this.#isDirty = true
    await this.save()
  }

  /** After a conflict: the other version. @throws ApiError */
  takeOther(): Promise<Tagged<Draft>> {
    return readDraft(this.data.api, this.#draft!.value.id)
  }

  /**
   * Sends it once, however often it is asked.
   * @param sendAt a time, as the API takes it; null: at once @returns the submission @throws ApiError
   */
  async send(sendAt: string | null): Promise<string> {
    this.#sendAt = sendAt
    // The undo and the time belong to the draft: they are saved with it.
    const { undo_seconds: seconds, send_at: at } = this.#draft?.value ?? {}
    if (seconds !== (sendAt === null ? this.undoSeconds : 0) || at !== sendAt) this.#isDirty = true
    await this.save()
    const { value, tag } = this.#draft!
    const { submission_id: id } = await sendDraft(this.data.api, value.id, tag, `send-${value.id}-${value.revision}`)
    return id
  }

  /** @throws ApiError */
  async discard(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#saving.catch(() => null)
    if (this.#draft !== null) await deleteDraft(this.data.api, this.#draft.value.id)
  }

  /** Whether closing loses nothing and leaves nothing behind. */
  get isUntouched(): boolean {
    return !this.#isDirty
  }
}

/** Takes a message back that has not left. @returns its draft; null when it has none @throws ApiError 409 when it has left */
export async function takeBack(data: MailboxData, submissionId: string): Promise<Tagged<Draft> | null> {
  const { draft_id: id } = await cancelSubmission(data.api, submissionId)
  return id === null ? null : readDraft(data.api, id)
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** A draft of another program may have plain text alone. */
function htmlOf({ html_body: html, text_body: text }: Draft): string {
  if (html !== null) return html
  const lines = (text ?? '').split(/\r?\n/)
  return lines.map((line) => `<div>${line.replace(/[&<>]/g, (letter) => ESCAPES[letter]!) || '<br>'}</div>`).join('')
}
