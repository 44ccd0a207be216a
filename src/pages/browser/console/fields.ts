import type { Part } from '@a2a-js/sdk'
import type { AgentCard } from '../../../card/model/index.ts'
import { parseJson } from '../../../json/index.ts'
import { visibleRows } from '../../components/index.ts'
import { byId } from '../dom/index.ts'
import { toBuffer } from './buffer.ts'
import type { Settings } from './conversation.ts'

/** A file is part of the message, in memory. Hosts and agents accept less. */
const MAX_FILE_BYTES = 8 * 1024 * 1024

const BINARY_TYPE = 'application/octet-stream'

/** What a session reads and changes in the form. Its content is in no state: a token is in its field only. */
export type Fields = ReturnType<typeof createFields>

/** Connects the fields of the page with a session. */
export const createFields = ({ defaultInputModes: modes }: AgentCard) => {
  const message = byId('message', HTMLTextAreaElement)
  const file = byId('message-file', HTMLInputElement)
  const send = byId('send', HTMLButtonElement)
  // Only an agent that needs a skill has the field.
  const skill = document.querySelector<HTMLSelectElement>('#skill')
  // The console renders it.
  const token = () => byId('token', HTMLInputElement)
  const isPlain = modes.some(mode => /^(?:text\/(?:plain|\*)|\*\/\*)/i.test(mode))
  const textType = (!isPlain && modes.find(mode => /^text\/[^*]+$/i.test(mode))) || 'text/plain'
  const refuse = (field: HTMLTextAreaElement | HTMLInputElement, problem: string): undefined => {
    field.setCustomValidity(problem)
    field.reportValidity()
  }
  return {
    ...{ message, file, send, skill },
    /** Returns the parts of the message. Undefined if it is not complete: then the invalid field shows why. */
    read: async (format: Settings['format']): Promise<Part[] | undefined> => {
      const parts: Part[] = []
      const add = (content: NonNullable<Part['content']>, mediaType: string, filename = ''): void =>
        void parts.push({ content, mediaType, filename, metadata: undefined })
      const text = message.value
      if (text.trim() !== '' && format === 'data') {
        const parsed = parseJson(text)
        if (!('value' in parsed)) return refuse(message, 'This is not JSON.')
        add({ $case: 'data', value: parsed.value }, 'application/json')
      } else if (text.trim() !== '') add({ $case: 'text', value: text }, textType)
      const chosen = file.files?.[0]
      if (chosen && chosen.size > MAX_FILE_BYTES)
        return refuse(file, 'The file is larger than 8 MiB, which is as much as this page sends.')
      if (chosen) {
        const value = toBuffer(new Uint8Array(await chosen.arrayBuffer()))
        add({ $case: 'raw', value }, chosen.type || BINARY_TYPE, chosen.name)
      }
      return parts.length === 0 ? refuse(message, 'Write a message, or choose a file.') : parts
    },
    setText: (text: string): void => {
      message.value = text
      message.rows = visibleRows(text)
    },
    clearFile: (): void => {
      file.value = ''
    },
    fileType: () => file.files?.[0] && (file.files[0].type || BINARY_TYPE),
    // Other characters cannot stand in a header. A token is often copied with the scheme before it.
    token: () =>
      token()
        .value.replace(/^\s*bearer\s+/i, '')
        .replace(/[^\x21-\x7e]/g, ''),
    focusToken: (): void => {
      token().closest('details')?.setAttribute('open', '')
      token().focus()
      token().select()
    },
  }
}
