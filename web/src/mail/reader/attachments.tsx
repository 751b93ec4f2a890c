// The files of a message: their text can be read without opening them.

import { useState } from 'preact/hooks'
import { readAttachmentText } from '../../api/mail.ts'
import type { MessageAttachment } from '../../api/types.ts'
import { size } from '../../base/numbers.ts'
import { useAction } from '../../live/action.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ErrorCard } from '../../parts/quiet.tsx'
import { common } from '../../words/en/common.ts'
import { mail as words } from '../../words/en/mail.ts'
import { useMail } from '../mail-context.ts'

/** Letters of the type on the tag of a file. */
const TAG_LENGTH = 4

const tagOf = (name: string) => /\.([A-Za-z0-9]+)$/.exec(name)?.[1]?.slice(0, TAG_LENGTH).toUpperCase() ?? ''

export function Attachments({ files }: { files: readonly MessageAttachment[] }) {
  const shown = files.filter(({ inline }) => !inline)
  if (shown.length === 0) return null
  return (
    <ul class="attachments" aria-label={words.attachments}>
      {shown.map((file) => (
        <File key={file.id} file={file} />
      ))}
    </ul>
  )
}

function File({ file }: { file: MessageAttachment }) {
  const { data } = useMail()
  const [text, setText] = useState<string | null>(null)
  const read = useAction(async () => setText(await readAttachmentText(data.api, file.id)))
  return (
    <li class="attachment">
      <span class="file-tag" aria-hidden="true">
        {tagOf(file.filename)}
      </span>
      <span class="cut">{file.filename}</span>
      <span class="soft nowrap">{size(file.size_bytes)}</span>
      <Button kind="quiet" size="short" isBusy={read.isBusy} onPress={() => void read.run()}>
        {words.read} <span class="hidden-word">{words.readOf(file.filename)}</span>
      </Button>
      <a
        class="icon-button"
        href={`/as/${data.mailbox.id}/api/v1/mailbox/attachments/${file.id}/content`}
        download={file.filename}
        title={words.save(file.filename)}
        aria-label={words.save(file.filename)}
      >
        <Icon name="download" />
      </a>
      {read.error !== null && (
        <Dialog
          title={words.readTitle(file.filename)}
          onClose={read.clear}
          foot={<Button onPress={read.clear}>{common.close}</Button>}
        >
          <ErrorCard error={read.error} />
        </Dialog>
      )}
      {text !== null && (
        <Dialog
          isWide
          title={words.readTitle(file.filename)}
          onClose={() => setText(null)}
          foot={<Button onPress={() => setText(null)}>{common.close}</Button>}
        >
          {text.trim() === '' ? <p class="soft">{words.noReadable}</p> : <pre class="file-text">{text}</pre>}
        </Dialog>
      )}
    </li>
  )
}
