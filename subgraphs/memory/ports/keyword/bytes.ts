/** Numbers in as few bytes as they need: seven bits a byte, the eighth says that more follow (LEB128). */
export class ByteWriter {
  #bytes = new Uint8Array(1024);
  length = 0;

  number(value: number): void {
    if (this.length + 8 > this.#bytes.length) this.#grow();
    // Division instead of shifts: sequence numbers may exceed 32 bits.
    while (value >= 128) {
      this.#bytes[this.length++] = (value % 128) | 128;
      value = Math.floor(value / 128);
    }
    this.#bytes[this.length++] = value;
  }

  /** A number that may be negative. */
  signed(value: number): void {
    this.number(value < 0 ? -2 * value - 1 : 2 * value);
  }

  /** A copy of its own size: a view would be sent between threads with all that lies around it. */
  written(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.length);
  }

  #grow(): void {
    const larger = new Uint8Array(2 * this.#bytes.length);
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

export class ByteReader {
  readonly #bytes: Uint8Array;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  number(): number {
    let byte = this.#bytes[this.#position++]!;
    let value = byte & 127;
    for (let scale = 128; byte >= 128; scale *= 128) {
      byte = this.#bytes[this.#position++]!;
      value += (byte & 127) * scale;
    }
    return value;
  }

  signed(): number {
    const value = this.number();
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
  }
}
