# `cmake --install`: library, CUDA module, command line, headers, pkg-config file, CMake package. The emulator is a test instrument and stays.
include(CMakePackageConfigHelpers)

install(TARGETS tessera EXPORT TesseraTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET tessera_cuda)
  install(TARGETS tessera_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tessera) # where the library looks for its modules
endif()
install(DIRECTORY include/tessera DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE NOTICES.md README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/guide docs/formats docs/images DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(DIRECTORY examples/c DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples FILES_MATCHING PATTERN "*.c")
install(CODE "message(STATUS \"A loader that does not know \${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR} yet finds the library after: ldconfig\")")

install(EXPORT TesseraTargets NAMESPACE tessera:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tessera)
configure_package_config_file(cmake/TesseraConfig.cmake.in ${CMAKE_BINARY_DIR}/package/TesseraConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tessera)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/TesseraConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/TesseraTerm.cmake ${CMAKE_BINARY_DIR}/package/TesseraConfig.cmake ${CMAKE_BINARY_DIR}/package/TesseraConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tessera)

# The prefix stands as ${pcfiledir}/../.. so that an installed tree can be moved.
configure_file(cmake/tessera.pc.in ${CMAKE_BINARY_DIR}/package/tessera.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/package/tessera.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
