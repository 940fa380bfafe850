public import HapticFormats
public import SystemSupport
internal import VendorFormats

/// The patterns and sound files of two folders, paired by name.
///
/// The name of a file is its path below the folder without extension, so that a pattern can be
/// compared with its recording or with its conversion to another format. If several files of a
/// folder have the same name, those with the same extension are paired first.
public struct FolderPairs: Sendable {
  /// A pair of files with the same name, one from each folder.
  public struct Pair: Equatable, Sendable {
    /// The name that both files have in common.
    public let name: String
    /// The file of the reference folder.
    public let reference: TakeInput
    /// The file of the candidate folder.
    public let candidate: TakeInput
  }

  /// The pairs, in the order of their names.
  public let pairs: [Pair]
  /// The names, with extensions, of files that only the reference folder contains.
  public let referenceOnlyNames: [String]
  /// The names, with extensions, of files that only the candidate folder contains.
  public let candidateOnlyNames: [String]
  /// The errors that occurred while the folders were searched.
  public let problems: [FileError]

  /// A pattern or sound file in one of the folders.
  private struct Entry {
    let input: TakeInput
    /// The path relative to the folder.
    let fileName: String
    /// The path relative to the folder, without extension.
    let name: String
  }

  /// Pairs the files of two folders and their subfolders.
  ///
  /// - Parameters:
  ///   - reference: The path of the reference folder.
  ///   - candidate: The path of the candidate folder.
  ///   - formats: The formats that are recognized.
  ///   - soundLookup: The folder in which the sound files of patterns are looked up.
  public init(
    reference: String, candidate: String, formats: FormatRegistry,
    soundLookup: PatternInput.SoundLookup = .patternFolder
  ) {
    var fileProblems: [FileError] = []
    func findEntries(in folder: String) -> [Entry] {
      let found = PatternInput.find(
        [folder], formats: formats, soundLookup: soundLookup, includesSounds: true)
      fileProblems += found.problems
      return found.inputs.map { input in
        let fileName = input.name.dropFirst(folder.count).drop { $0 == "/" }
        return Entry(
          input: TakeInput(input), fileName: String(fileName), name: input.outputStem)
      }
    }
    let referenceEntries = findEntries(in: reference)
    let candidateEntries = findEntries(in: candidate)
    self.problems = fileProblems

    let indexPairs = Self.indexPairs(referenceEntries, candidateEntries)
    pairs = indexPairs.map { pair in
      Pair(
        name: referenceEntries[pair.referenceIndex].name,
        reference: referenceEntries[pair.referenceIndex].input,
        candidate: candidateEntries[pair.candidateIndex].input)
    }
    let pairedReferences = Set(indexPairs.map(\.referenceIndex))
    referenceOnlyNames = referenceEntries.indices.filter { !pairedReferences.contains($0) }
      .map { referenceEntries[$0].fileName }
    let pairedCandidates = Set(indexPairs.map(\.candidateIndex))
    candidateOnlyNames = candidateEntries.indices.filter { !pairedCandidates.contains($0) }
      .map { candidateEntries[$0].fileName }
  }

  /// The indices of the two files of a pair in the lists of references and candidates.
  private struct IndexPair {
    let referenceIndex: Int
    let candidateIndex: Int
  }

  /// Returns the pairs of files with the same name, in the order of the references.
  private static func indexPairs(_ references: [Entry], _ candidates: [Entry]) -> [IndexPair] {
    func mapFirstIndices(of entries: [Entry], by key: (Entry) -> String) -> [String: Int] {
      Dictionary(entries.indices.map { (key(entries[$0]), $0) }) { first, _ in first }
    }
    let candidatesByFileName = mapFirstIndices(of: candidates, by: \.fileName)
    var matchedPairs = references.indices.compactMap { reference in
      candidatesByFileName[references[reference].fileName].map {
        IndexPair(referenceIndex: reference, candidateIndex: $0)
      }
    }
    // A file without an equal name is paired with the first file that has another extension.
    let candidatesByName = mapFirstIndices(of: candidates, by: \.name)
    let pairedReferences = Set(matchedPairs.map(\.referenceIndex))
    for reference in references.indices where !pairedReferences.contains(reference) {
      if let candidate = candidatesByName[references[reference].name] {
        matchedPairs.append(IndexPair(referenceIndex: reference, candidateIndex: candidate))
      }
    }
    let referencesByName = mapFirstIndices(of: references, by: \.name)
    let pairedCandidates = Set(matchedPairs.map(\.candidateIndex))
    for candidate in candidates.indices where !pairedCandidates.contains(candidate) {
      if let reference = referencesByName[candidates[candidate].name] {
        matchedPairs.append(IndexPair(referenceIndex: reference, candidateIndex: candidate))
      }
    }
    return matchedPairs.sorted {
      ($0.referenceIndex, $0.candidateIndex) < ($1.referenceIndex, $1.candidateIndex)
    }
  }
}
