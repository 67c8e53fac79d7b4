/* Peer of bench_surface: vtkFlyingEdges3D (VTK, BSD licence), indexed triangles without normals, one thread. A small library that
 * bench_surface opens if it is there. */
#include <vtkFlyingEdges3D.h>
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkFloatArray.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkSMPTools.h>

/* Runs the filter once on a float32 volume; returns its triangles. */
extern "C" __attribute__((visibility("default"))) long long peer_flying_edges(const float *data, int nx, int ny, int nz, double isovalue, int threads)
{
    vtkNew<vtkFloatArray> values;
    vtkNew<vtkImageData> image;
    vtkNew<vtkFlyingEdges3D> filter;
    vtkSMPTools::Initialize(threads);
    values->SetArray(const_cast<float *>(data), (vtkIdType)nx * ny * nz, 1);
    image->SetDimensions(nx, ny, nz);
    image->GetPointData()->SetScalars(values);
    filter->SetInputData(image);
    filter->SetValue(0, isovalue);
    filter->ComputeNormalsOff();
    filter->ComputeGradientsOff();
    filter->ComputeScalarsOff();
    filter->Update();
    return (long long)filter->GetOutput()->GetNumberOfCells();
}
