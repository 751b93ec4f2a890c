// The source of a message: its header and body as they are stored.

import { useEffect, useState } from 'preact/hooks'
import { type ApiError, toApiError } from '../../api/errors.ts'
import { readSource } from '../../api/mail.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { common } from '../../words/en/common.ts'
import { mail as words } from '../../words/en/mail.ts'
import { useMail } from '../mail-context.ts'

export function SourceDialog({ messageId, close }: { messageId: string; close: () => void }) {
  const { data } = useMail()
  const [source, setSource] = useState<string | null>(null)
  const [error, setError] = useState<ApiError | null>(null)
  useEffect(() => {
    readSource(data.api, messageId).then(setSource, (thrown: unknown) => setError(toApiError(thrown)))
  }, [messageId])
  return (
    <Dialog isWide title={words.source} onClose={close} foot={<Button onPress={close}>{common.close}</Button>}>
      {error !== null && <ErrorCard error={error} />}
      {source === null && error === null && <Skeleton rows={6} />}
      {source !== null && <pre class="file-text">{source}</pre>}
    </Dialog>
  )
}
