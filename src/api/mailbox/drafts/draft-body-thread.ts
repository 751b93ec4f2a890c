// The thread that reads large drafts.

import { inThread } from '../../../http/large-body.ts'
import { draftReader } from './draft-body.ts'

export default inThread(draftReader)
