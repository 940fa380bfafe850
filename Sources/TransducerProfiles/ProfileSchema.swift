import Reading

/// The JSON Schema of profiles, for editors and other programs: draft 2020-12.
///
/// It says what the reader says, but for values that are compared with each other.
public enum ProfileSchema {
  /// The text, the same as `Profiles/profile.schema.json`.
  public static func text() -> [UInt8] {
    var json = JSONWriter()
    json.object { schema in
      schema.member("$schema", "https://json-schema.org/draft/2020-12/schema")
      schema.member("title", "Transducer profile")
      schema.member(
        "description",
        "Defines how a haptic pattern is rendered for one kind of transducer: frequency, level, waveform.")
      schema.fields(ProfileKeys.profile.shape)
      schema.thresholdsWhereUsed()
    }
    return json.finish()
  }
}

extension JSONObjectWriter {
  /// Writes what is asked of a value.
  fileprivate mutating func type(_ type: JSONType) {
    switch type {
    case .number(let range):
      member("type", "number")
      range.lowerBound.write("minimum", isShort: true, to: &self)
      range.upperBound.write("maximum", isShort: true, to: &self)
    case .integer(let range):
      member("type", "integer")
      member("minimum", range.lowerBound)
      member("maximum", range.upperBound)
    case .boolean: member("type", "boolean")
    case .text(let pattern):
      member("type", "string")
      if let pattern { member("pattern", pattern) } else { member("minLength", 1) }
    case .any: break
    case .word(let words): self.words("enum", words)
    case .list(let entry, let count):
      member("type", "array")
      if let count {
        member("minItems", count.lowerBound)
        member("maxItems", count.upperBound)
      }
      object("items") { $0.type(entry) }
    case .object(let shape): fields(shape())
    }
  }

  fileprivate mutating func fields(_ shape: JSONShape) {
    member("type", "object")
    object("properties") { properties in
      for key in shape.keys {
        properties.object(key.name) { property in
          property.member("description", key.meaning)
          property.type(key.type)
          if let usual = key.defaultValue { usual.write("default", isShort: true, to: &property) }
          if case .word(let words) = key.type, let first = words.first { property.member("default", first) }
        }
      }
    }
    words("required", shape.keys.filter { $0.presence == .required }.map { $0.name })
    member("additionalProperties", false)
    if shape === ProfileKeys.transient.shape {
      object("dependentSchemas") { dependents in
        dependents.object("duration") { $0.forbid(ProfileKeys.replacedByDuration) }
      }
    }
    if let choice = shape.choice { branches(of: choice) }
  }

  /// Which keys go with which word; without the word, those of the first.
  private mutating func branches(of choice: JSONShape.Choice) {
    guard let usual = choice.branches.first else { return }
    array("allOf") { list in
      for branch in choice.branches {
        let others = choice.branches.flatMap { $0.keys }.filter { !branch.keys.contains($0) }
        list.object { rule in
          rule.object("if") { condition in
            condition.object("properties", layout: .line) { properties in
              properties.object(choice.key) { $0.member("const", branch.word) }
            }
            if branch.word != usual.word { condition.words("required", [choice.key]) }
          }
          rule.object("then") { consequence in
            consequence.words("required", branch.required)
            consequence.forbid(others)
          }
        }
      }
    }
  }

  /// The law of sensation needs thresholds; without it they are for hardware on which all is felt equally.
  fileprivate mutating func thresholdsWhereUsed() {
    object("if") { condition in
      condition.object("properties", layout: .line) { properties in
        properties.object("intensity") { intensity in
          intensity.object("properties") { properties in properties.object("law") { $0.member("const", "sensation") } }
          intensity.words("required", ["law"])
        }
      }
      condition.words("required", ["intensity"])
    }
    object("then", layout: .line) { $0.words("required", ["thresholds"]) }
    object("else") { otherwise in
      otherwise.object("if") { condition in
        condition.object("properties", layout: .line) { properties in
          properties.object("drive") { drive in
            drive.object("properties") { properties in properties.object("equalSensation") { $0.member("const", true) }
            }
          }
        }
        condition.words("required", ["hardware"])
      }
      otherwise.object("else", layout: .line) { $0.forbid(["thresholds"]) }
    }
  }

  private mutating func forbid(_ keys: [String]) {
    if keys.isEmpty { return }
    object("properties", layout: .line) { properties in for key in keys { properties.member(key, false) } }
  }

  private mutating func words(_ key: String, _ words: [String]) {
    if words.isEmpty { return }
    array(key, layout: .line) { list in for word in words { list.element(word) } }
  }
}
