internal import HapticFormats
internal import Reading

// The calls of the C interface that change the text of a document, and that return a part of it.

/// Replaces the text of a document.
/// Returns 1 if it can be read; otherwise, the output is the error.
@_expose(wasm, "replace") @_cdecl("temblor_replace")
public func temblorReplace(
  _ handle: StudioHandle?, _ slot: Int32, _ content: BytePointer?, _ length: Int32
) -> Int32 {
  unsafe runCall(handle) { instance throws(CallError) in
    let content = try unsafe copyBytes(content, length, of: "the text")
    return try instance.withDocument(slot) { document throws(CallError) in
      document.replaceText(content)
      return try StudioInstance.readingResult(of: document)
    }
  }
}

/// Applies a list of changes in JSON to a document.
/// If a change is invalid, none is applied, the output is the error, and the result is 0.
@_expose(wasm, "change") @_cdecl("temblor_change")
public func temblorChange(
  _ handle: StudioHandle?, _ slot: Int32, _ changes: BytePointer?, _ length: Int32
) -> Int32 {
  unsafe runCall(handle) { instance throws(CallError) in
    let changes = try unsafe copyBytes(changes, length, of: "the changes")
    return try instance.withDocument(slot) { document throws(CallError) in
      try convertingInputErrors { () throws(InputError) in
        try document.applyChanges([PatternChange](json: changes))
        return 1
      }
    }
  }
}

/// Begins an undo step with the given name. Returns 1, or 0 for an invalid document.
@_expose(wasm, "begin") @_cdecl("temblor_begin")
public func temblorBegin(
  _ handle: StudioHandle?, _ slot: Int32, _ label: BytePointer?, _ length: Int32
) -> Int32 {
  unsafe runCall(handle) { instance throws(CallError) in
    let label = try unsafe decodeText(label, length, of: "the name")
    return try instance.withDocument(slot) { document throws(CallError) in
      document.beginUndoStep(label)
      return 1
    }
  }
}

/// Undoes the last step, or redoes it if `forward` is not 0. Returns 0 if no such step exists.
@_expose(wasm, "step") @_cdecl("temblor_step")
public func temblorStep(_ handle: StudioHandle?, _ slot: Int32, _ forward: Int32) -> Int32 {
  unsafe runCall(handle) { instance throws(CallError) in
    try instance.withDocument(slot) { document throws(CallError) in
      guard document.moveInHistory(forward: forward != 0) else {
        throw .invalidState(forward == 0 ? "there is no step to undo" : "there is no step to redo")
      }
      return 1
    }
  }
}

/// Sets the output to the source text of one entry or control point of the pattern. The path
/// identifies the part, as in `events[3]`. An invalid path is an error.
@_expose(wasm, "part") @_cdecl("temblor_part")
public func temblorPart(
  _ handle: StudioHandle?, _ slot: Int32, _ path: BytePointer?, _ length: Int32
) -> Int32 {
  unsafe runCall(handle) { instance throws(CallError) in
    let path = try unsafe decodeText(path, length, of: "the path")
    let elementBytes = try instance.withDocument(slot) { document throws(CallError) in
      guard let editor = document.lastReadableEditor else {
        throw .invalidState("the slot has no pattern")
      }
      return try convertingInputErrors { () throws(InputError) in try editor.bytes(of: path) }
    }
    return instance.setOutput(elementBytes)
  }
}
