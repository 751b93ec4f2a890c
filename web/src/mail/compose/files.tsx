// The files of a message that is being written: uploaded one after the other, with how far each is.

import { signal } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import { uploadFile } from '../../api/drafts.ts'
import { percent, size } from '../../base/numbers.ts'
import { IconButton } from '../../parts/button.tsx'
import { compose as words } from '../../words/en/compose.ts'
import type { DraftWriter } from './draft-writer.ts'

interface Upload {
  id: number
  name: string
  bytes: number
  share: number
  error: string | null
  request: AbortController
}

/** The uploads of one composer. */
export class Uploads {
  readonly running = signal<readonly Upload[]>([])
  readonly #writer: DraftWriter
  #queue: Promise<void> = Promise.resolve()
  #last = 0

  constructor(writer: DraftWriter) {
    this.#writer = writer
  }

  get areRunning(): boolean {
    return this.running.value.some(({ error }) => error === null)
  }

  add(files: Iterable<File>): void {
    for (const file of files) {
      const upload: Upload = {
        ...{ id: ++this.#last, name: file.name, bytes: file.size, share: 0, error: null },
        request: new AbortController(),
      }
      this.running.value = [...this.running.value, upload]
      this.#queue = this.#queue.then(() => this.#send(upload, file))
    }
  }

  remove(upload: Upload): void {
    upload.request.abort()
    this.running.value = this.running.value.filter(({ id }) => id !== upload.id)
  }

  async #send(upload: Upload, file: File): Promise<void> {
    const { signal: ended } = upload.request
    if (ended.aborted) return
    const writer = this.#writer
    try {
      const onProgress = (share: number) => this.#update(upload.id, { share })
      const { blob_id, filename, size_bytes } = await uploadFile(writer.data.mailbox.id, file, onProgress, ended)
      this.remove(upload)
      writer.change({
        attachments: [
          ...writer.fields.peek().attachments,
          { blob_id, filename, type: file.type || null, disposition: 'attachment', content_id: null, size_bytes },
        ],
      })
    } catch (error) {
      if (ended.aborted) return
      const isTooLarge = error instanceof Error && 'status' in error && error.status === 413
      this.#update(upload.id, { error: isTooLarge ? words.upload.tooLarge : words.upload.failed })
    }
  }

  #update(id: number, change: Partial<Upload>): void {
    this.running.value = this.running.value.map((one) => (one.id === id ? { ...one, ...change } : one))
  }
}

export function useUploads(writer: DraftWriter): Uploads {
  return useMemo(() => new Uploads(writer), [writer])
}

export function Files({ writer, uploads }: { writer: DraftWriter; uploads: Uploads }) {
  const { attachments } = writer.fields.value
  if (attachments.length + uploads.running.value.length === 0) return null
  return (
    <ul class="attachments compose-files">
      {attachments.map((file, index) => (
        <li key={`${file.blob_id}-${file.filename}`} class="attachment">
          <span class="cut">{file.filename}</span>
          {file.size_bytes != null && <span class="soft nowrap">{size(file.size_bytes)}</span>}
          <IconButton
            icon="x"
            label={words.remove(file.filename)}
            isTiny
            onPress={() => writer.change({ attachments: attachments.filter((_, at) => at !== index) })}
          />
        </li>
      ))}
      {uploads.running.value.map((upload) => (
        <li key={upload.id} class="attachment">
          <span class="cut">{upload.name}</span>
          {upload.error === null ? (
            <span class="soft nowrap">{words.upload.running(percent(Math.round(upload.share * 100) / 100))}</span>
          ) : (
            <span class="danger nowrap">{upload.error}</span>
          )}
          <IconButton icon="x" label={words.remove(upload.name)} isTiny onPress={() => uploads.remove(upload)} />
          {upload.error === null && (
            <span class="upload-bar" style={{ inlineSize: `${Math.round(upload.share * 100)}%` }} />
          )}
        </li>
      ))}
    </ul>
  )
}

/** A button that opens the file chooser of the browser. */
export function AttachButton({ uploads }: { uploads: Uploads }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          uploads.add(event.currentTarget.files ?? [])
          event.currentTarget.value = ''
        }}
      />
      <IconButton icon="paperclip" label={words.attach} onPress={() => input.current?.click()} />
    </>
  )
}
