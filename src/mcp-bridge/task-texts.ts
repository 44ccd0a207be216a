/** What is kept of a task: itself, and what it has made, which is read only where it is asked for. */
type TextName = 'task' | 'artifacts'

/** SQLite takes at most 2 MB a value in a Durable Object. */
const pieceBytes = 1_500_000

const encoder = new TextEncoder()

/** The texts of tasks, in pieces. */
export class TaskTexts {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
    sql.exec(`CREATE TABLE IF NOT EXISTS pieces (
      task TEXT NOT NULL, name TEXT NOT NULL, number INTEGER NOT NULL, bytes BLOB NOT NULL,
      PRIMARY KEY (task, name, number)
    ) WITHOUT ROWID`)
  }

  /** Writes a task's texts in place of those that it had; returns their length in bytes. */
  write(task: string, texts: Record<TextName, string>): number {
    let length = 0
    this.delete(task)
    for (const [name, text] of Object.entries(texts)) {
      const bytes = encoder.encode(text)
      length += bytes.byteLength
      for (let number = 0; number * pieceBytes < bytes.byteLength; number++) {
        const piece = bytes.slice(number * pieceBytes, (number + 1) * pieceBytes)
        this.#sql.exec('INSERT INTO pieces VALUES (?, ?, ?, ?)', task, name, number, piece)
      }
    }
    return length
  }

  read(task: string, name: TextName): string | undefined {
    const pieces = this.#sql
      .exec<{ bytes: ArrayBuffer }>('SELECT bytes FROM pieces WHERE task = ? AND name = ? ORDER BY number', task, name)
      .toArray()
    const decoder = new TextDecoder()
    const texts = pieces.map(({ bytes }) => decoder.decode(bytes, { stream: true }))
    return texts.length > 0 ? texts.join('') : undefined
  }

  delete(task: string): void {
    this.#sql.exec('DELETE FROM pieces WHERE task = ?', task)
  }
}
