// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "TemblorFuzz",
  dependencies: [.package(name: "Temblor", path: "../..")],
  targets: [
    .systemLibrary(name: "CLibFuzzer"),
    .executableTarget(
      name: "temblor-fuzz",
      dependencies: [
        "CLibFuzzer",
        .product(name: "Diagnostics", package: "Temblor"),
        .product(name: "HapticFormats", package: "Temblor"),
        .product(name: "HapticModel", package: "Temblor"),
        .product(name: "HapticRender", package: "Temblor"),
        .product(name: "PatternRules", package: "Temblor"),
        .product(name: "TransducerProfiles", package: "Temblor"),
      ],
      swiftSettings: [
        .swiftLanguageMode(.v6),
        .strictMemorySafety(),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
      ]),
  ]
)
